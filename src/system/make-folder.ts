import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Files may contain keys and request bodies: only the user may read them. */
const PRIVATE_FOLDER = 0o700
/** For files that users asked for by name: the umask decides who may read them. */
export const PROJECT_FOLDER = 0o777

const OWN_FOLDER = '.petstore-sandbox'

/**
 * The sandbox's own folder gets a .gitignore. Not `recursive`: that never returns where the system reports ENOENT for a
 * forbidden folder, as in /proc.
 *
 * @returns the uppermost new folder
 */
export function makeFolder(folder: string, mode = PRIVATE_FOLDER): string | undefined {
  const above = dirname(folder)
  try {
    return makeOne(folder, mode)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
  }
  const uppermost = makeFolder(above, mode)
  const made = makeOne(folder, mode)
  return uppermost ?? made
}

function makeOne(folder: string, mode: number): string | undefined {
  try {
    mkdirSync(folder, mode)
    if (basename(folder) === OWN_FOLDER) ignoreItself(folder)
    return folder
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined
    throw error
  }
}

/** @source gitignore(5): a pattern applies below the folder of its file, and to that file */
function ignoreItself(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 })
  } catch {
    // If the folder is not writable, its purpose fails with a better message.
  }
}
