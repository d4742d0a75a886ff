import { fdatasync, ftruncateSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Disk access of the journal; tests replace it by a full or broken disk. */
export interface Disk {
  /** @returns the number of bytes written, which may be smaller on a nearly full disk */
  write(fd: number, bytes: Uint8Array): number
  truncate(fd: number, length: number): void
  sync(fd: number): Promise<void>
}

export const REAL_DISK: Disk = {
  write: (fd, bytes) => writeSync(fd, bytes),
  truncate: ftruncateSync,
  sync: (fd) =>
    new Promise((resolve, reject) => fdatasync(fd, (error) => (error === null ? resolve() : reject(error)))),
}

/**
 * Syncs the folder of a file, because syncing the file does not persist its name. Windows cannot sync folders and does
 * not need to.
 */
export async function syncFolder(file: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(dirname(file), 'r')
  await handle.sync().finally(() => handle.close())
}
