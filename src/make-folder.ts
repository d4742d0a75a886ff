import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing.
 *
 * Node's own `recursive` never returns where a system says ENOENT of a folder that it forbids: /proc.
 *
 * @returns the uppermost folder that was made, undefined if it was there already
 */
export function makeFolder(folder: string, mode?: number): string | undefined {
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

function makeOne(folder: string, mode: number | undefined): string | undefined {
  try {
    mkdirSync(folder, mode)
    return folder
  } catch (error) {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return undefined
    throw error
  }
}
