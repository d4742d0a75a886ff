import { banHammered } from './ordeals/ban-hammered.js'
import { clockUnderLoad } from './ordeals/clock-under-load.js'
import { damagedSnapshots } from './ordeals/damaged-snapshots.js'
import { damagedStore } from './ordeals/damaged-store.js'
import { fullDisk } from './ordeals/full-disk.js'
import { fullStore } from './ordeals/full-store.js'
import { halfClosedSockets } from './ordeals/half-closed-sockets.js'
import { headsOfTheStream } from './ordeals/heads-of-the-stream.js'
import { hostileBodies } from './ordeals/hostile-bodies.js'
import { hostileContracts } from './ordeals/hostile-contracts.js'
import { hostilePages } from './ordeals/hostile-pages.js'
import { hostileServers } from './ordeals/hostile-servers.js'
import { irregularFiles } from './ordeals/irregular-files.js'
import { killWhileFolding } from './ordeals/kill-while-folding.js'
import { killWhileStarting } from './ordeals/kill-while-starting.js'
import { killWhileWriting } from './ordeals/kill-while-writing.js'
import { manyConnections } from './ordeals/many-connections.js'
import { manyKeysAndSpaces } from './ordeals/many-keys-and-spaces.js'
import { pathTraversal } from './ordeals/path-traversal.js'
import { prototypeKeys } from './ordeals/prototype-keys.js'
import { readOnlyFolder } from './ordeals/read-only-folder.js'
import { removedFolder } from './ordeals/removed-folder.js'
import { requestSmuggling } from './ordeals/request-smuggling.js'
import { secrets } from './ordeals/secrets.js'
import { slowReaders } from './ordeals/slow-readers.js'
import { slowSenders } from './ordeals/slow-senders.js'
import { slowStreamReader } from './ordeals/slow-stream-reader.js'
import { stalledReaders } from './ordeals/stalled-readers.js'
import { stalledSenders } from './ordeals/stalled-senders.js'
import { stopUnderLoad } from './ordeals/stop-under-load.js'
import { unusualRequests } from './ordeals/unusual-requests.js'
import { wireFuzz } from './ordeals/wire-fuzz.js'
import type { Ordeal } from './trial.js'

/** Every ordeal by the name of its file, in the order in which they are gone through. */
export const ORDEALS: Readonly<Record<string, Ordeal>> = {
  'kill-while-writing': killWhileWriting,
  'kill-while-folding': killWhileFolding,
  'kill-while-starting': killWhileStarting,
  'damaged-store': damagedStore,
  'damaged-snapshots': damagedSnapshots,
  'full-disk': fullDisk,
  'full-store': fullStore,
  'read-only-folder': readOnlyFolder,
  'removed-folder': removedFolder,
  'irregular-files': irregularFiles,
  'stop-under-load': stopUnderLoad,
  'clock-under-load': clockUnderLoad,
  'many-connections': manyConnections,
  'slow-senders': slowSenders,
  'slow-readers': slowReaders,
  'slow-stream-reader': slowStreamReader,
  'stalled-senders': stalledSenders,
  'stalled-readers': stalledReaders,
  'heads-of-the-stream': headsOfTheStream,
  'wire-fuzz': wireFuzz,
  'half-closed-sockets': halfClosedSockets,
  'request-smuggling': requestSmuggling,
  'unusual-requests': unusualRequests,
  'hostile-bodies': hostileBodies,
  'hostile-contracts': hostileContracts,
  'hostile-servers': hostileServers,
  'prototype-keys': prototypeKeys,
  'path-traversal': pathTraversal,
  'many-keys-and-spaces': manyKeysAndSpaces,
  'ban-hammered': banHammered,
  'hostile-pages': hostilePages,
  secrets,
}
