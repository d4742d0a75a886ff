import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

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
 * found; a reader never sees half a file.
 *
 * @returns how to take it away again, if it is still ours
 */
export async function writeLocator(cwd: string, location: Location): Promise<() => Promise<void>> {
  const file = join(cwd, FOLDER, FILE)
  const text = `${JSON.stringify(location)}\n`
  const draft = `${file}.${location.pid}`
  await mkdir(join(cwd, FOLDER), { recursive: true })
  try {
    await writeFile(draft, text)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
  return async () => {
    if ((await readFile(file, 'utf8')) === text) await rm(file)
  }
}
