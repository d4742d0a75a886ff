import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What the sandbox writes is its user's alone: keys, and what clients sent, may be in it. */
const PRIVATE_FOLDER = 0o700

/** Where the sandbox keeps what is its own, in the folder that it is started in. */
const OWN_FOLDER = '.petstore-sandbox'

/**
 * Makes a folder, and those above it that are missing.
 *
 * The sandbox's own folder tells git to pass it by: state and addresses are nobody else's.
 *
 * Node's own `recursive` never returns where a system says ENOENT of a folder that it forbids: /proc.
 *
 * @returns the uppermost folder that was made, undefined if it was there already
 */
export function makeFolder(folder: string): string | undefined {
  const above = dirname(folder)
  try {
    return makeOne(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === folder) throw error
  }
  const uppermost = makeFolder(above)
  const made = makeOne(folder)
  return uppermost ?? made
}

function makeOne(folder: string): string | undefined {
  try {
    mkdirSync(folder, PRIVATE_FOLDER)
    if (basename(folder) === OWN_FOLDER) ignoreItself(folder)
    return folder
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined
    throw error
  }
}

/** @source gitignore(5): a pattern counts below the folder that its file is in, that file included */
function ignoreItself(folder: string): void {
  try {
    writeFileSync(join(folder, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 })
  } catch {
    // What the folder is made for matters more, and says so if nothing can be written in it.
  }
}
