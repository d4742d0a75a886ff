import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { LOCATOR, type Location } from '../client/locator-file.js'
import { makeFolder } from '../system/make-folder.js'
import { PRIVATE_FILE, readRegularFile } from '../system/regular-file.js'

/**
 * Atomic: readers never see half a file. Synchronous, so that a draft is hardly ever left behind.
 *
 * @returns a function that removes the locator, unless another sandbox has replaced it
 */
export function writeLocator(cwd: string, location: Location): () => void {
  const file = join(cwd, LOCATOR)
  const text = `${JSON.stringify(location)}\n`
  const draft = `${file}.${location.pid}`
  makeFolder(dirname(file))
  try {
    writeFileSync(draft, text, { mode: PRIVATE_FILE })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  return () => {
    if (readRegularFile(file).toString() === text) rmSync(file)
  }
}
