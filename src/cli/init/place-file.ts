import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from '../../domain/failures.js'
import { makeFolder } from '../../system/make-folder.js'
import { PRIVATE_FILE } from '../../system/regular-file.js'

/**
 * Writes a new file and the folders it needs. Whatever exists there
 * already, even a broken link, is left alone.
 *
 * @returns false if something was there
 * @throws Failure CANNOT_WRITE
 */
export async function placeFile(file: string, content: string | Uint8Array): Promise<boolean> {
  try {
    makeFolder(dirname(file))
    await writeFile(file, content, { flag: 'wx', mode: PRIVATE_FILE })
    return true
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (error as NodeJS.ErrnoException).path === file) return false
    throw new Failure('CANNOT_WRITE', `"${file}" cannot be written (${message}). No existing file was changed.`, {
      cause: error,
    })
  }
}
