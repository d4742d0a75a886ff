import { fdatasync, ftruncateSync, writeSync } from 'node:fs'

/** What the journal needs of the disk for every response. Tests pass one that is full or broken. */
export interface Disk {
  /** @returns how many bytes were written: a nearly full disk takes only some */
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
