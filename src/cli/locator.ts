import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../make-folder.js'
import { readRegularFile } from '../regular-file.js'

/** Where a running sandbox can be found, from the folder it was started in. */
export interface Location {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
}

const FOLDER = '.petstore-sandbox'
const FILE = 'run.json'

/**
 * Leaves word of where the sandbox runs. Whoever started last is the one that is
 * found; a reader never sees half a file. Written in one go, so that hardly any
 * end of the process comes between the draft and its name.
 *
 * @returns how to take it away again, if it is still ours
 */
export function writeLocator(cwd: string, location: Location): () => void {
  const file = locatorFile(cwd)
  const text = `${JSON.stringify(location)}\n`
  const draft = `${file}.${location.pid}`
  makeFolder(join(cwd, FOLDER))
  try {
    writeFileSync(draft, text)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  return () => {
    if (readRegularFile(file).toString() === text) rmSync(file)
  }
}

/** Where the sandbox runs that was started last in a folder; undefined if nobody left word that can be read. */
export function readLocator(cwd: string): Location | undefined {
  try {
    const { baseUrl, controlUrl, pid }: Partial<Location> = JSON.parse(readRegularFile(locatorFile(cwd)).toString())
    if (typeof baseUrl !== 'string' || typeof controlUrl !== 'string' || !Number.isSafeInteger(pid)) return undefined
    return { baseUrl, controlUrl, pid: Number(pid) }
  } catch {
    return undefined
  }
}

function locatorFile(cwd: string): string {
  return join(cwd, FOLDER, FILE)
}
