import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Makes the folder of a file safe against a power cut: a file's own sync does
 * not cover its name. Windows does not sync folders, and needs no such thing.
 */
export async function syncFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(dirname(file), 'r')
  await handle.sync().finally(() => handle.close())
}
