import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file could not be written where it belongs. */
export class PlacingError extends Error {
  override readonly name = 'PlacingError'
  readonly code = 'CANNOT_WRITE'
}

/**
 * Writes a file that is not there yet, with the folders it needs. Whatever is there
 * already, even a broken link, stays as it is.
 *
 * @returns false if something was there
 * @throws PlacingError
 */
export async function placeFile(file: string, content: string | Uint8Array): Promise<boolean> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content, { flag: 'wx' })
    return true
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (error as NodeJS.ErrnoException).path === file) return false
    throw new PlacingError(`"${file}" cannot be written (${message}). Nothing that was there has been changed.`, {
      cause: error,
    })
  }
}
