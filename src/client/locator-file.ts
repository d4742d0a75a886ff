import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolder, PRIVATE_FILE, readRegularFile } from '../system/regular-file.js'

/** Where `serve` records its address, below the folder that it was started in. */
export const LOCATOR = '.petstore-sandbox/run.json'

export interface Location {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  /** ISO 8601, UTC. GET /health reports it, with the pid. */
  readonly startedAt: string
}

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
    try {
      if (readRegularFile(file).toString() === text) rmSync(file)
    } catch {
      // Something else has removed it.
    }
  }
}
