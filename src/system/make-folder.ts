import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** What the sandbox writes is its user's alone: keys, and what clients sent, may be in it. */
const PRIVATE_FOLDER = 0o700

/**
 * Makes a folder, and those above it that are missing.
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
    return folder
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined
    throw error
  }
}
