import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Syncs the folder of a file, so that its name survives a power cut: a file's own sync does
 * not cover its name. Windows cannot sync folders and does not need to.
 */
export async function syncFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(dirname(file), 'r')
  await handle.sync().finally(() => handle.close())
}
