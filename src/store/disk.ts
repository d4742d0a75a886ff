import { fdatasync, ftruncateSync, writeSync } from 'node:fs'

/** What the journal asks of the disk on the way to every answer. Tests hand in one that is full or broken. */
export interface Disk {
  /** @returns how many bytes were written: a disk that is nearly full takes a part */
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
