import { damagedStore } from './ordeals/damaged-store.js'
import { fullDisk } from './ordeals/full-disk.js'
import { killWhileFolding } from './ordeals/kill-while-folding.js'
import { killWhileStarting } from './ordeals/kill-while-starting.js'
import { killWhileWriting } from './ordeals/kill-while-writing.js'
import { readOnlyFolder } from './ordeals/read-only-folder.js'
import type { Ordeal } from './trial.js'

/** Every ordeal by the name of its file, in the order in which they are gone through. */
export const ORDEALS: Readonly<Record<string, Ordeal>> = {
  'kill-while-writing': killWhileWriting,
  'kill-while-folding': killWhileFolding,
  'kill-while-starting': killWhileStarting,
  'damaged-store': damagedStore,
  'full-disk': fullDisk,
  'read-only-folder': readOnlyFolder,
}
