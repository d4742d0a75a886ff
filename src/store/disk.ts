import { fsyncSync, ftruncateSync, type Stats, statSync, writeSync } from 'node:fs'

/** Disk access of the store; tests replace it by a full or broken disk. */
export interface Disk {
  /** @returns the number of bytes written, which may be smaller on a nearly full disk */
  write(fd: number, bytes: Uint8Array): number
  truncate(fd: number, length: number): void
  sync(fd: number): void
}

export const REAL_DISK: Disk = {
  write: (fd, bytes) => writeSync(fd, bytes),
  truncate: ftruncateSync,
  sync: fsyncSync,
}

export function writeAll(disk: Disk, fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += disk.write(fd, bytes.subarray(at))
}

/** Changes if a file is written to or replaced; undefined without one. */
export function stampOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats && `${placeOf(stats)}:${stats.size}:${stats.mtimeMs}`
}

/** The same as long as a path leads to the same file. */
export function placeOf({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`
}
