import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { openRegularFile } from '../system/regular-file.js'
import { crc32 } from './checksum.js'
import { FIRST_CHAIN, type JournalEnd, journalHead, journalLine } from './journal-lines.js'
import { cannot } from './store-error.js'

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT

/** An append-only file. Tasks run one at a time; lines are written immediately if no task is running, otherwise in order. */
export class Journal {
  readonly #file: string
  readonly #fsync: boolean
  readonly #disk: Disk
  #fd: number
  #place: string
  #length: number
  #chain: number | undefined
  /** After a failed write, the file may be longer than `#length`. */
  #isTooLong: boolean
  readonly #queue: (() => Promise<void>)[] = []
  #isWorking = false

  /** @param end of the valid lines; the file is truncated there before the next write */
  constructor(file: string, { length, chain }: JournalEnd, fsync: boolean, disk: Disk) {
    this.#file = file
    this.#fsync = fsync
    this.#disk = disk
    rmSync(nextOf(file), { force: true })
    this.#fd = openRegularFile(file, FLAGS)
    this.#place = placeOf(fstatSync(this.#fd))
    this.#length = length
    this.#chain = chain
    this.#isTooLong = true
  }

  get length(): number {
    return this.#length
  }

  get end(): JournalEnd {
    return { length: this.#length, chain: this.#chain }
  }

  /** Whether the path still points to the open file. Writes to a removed file would be lost. */
  isInPlace(): boolean {
    const there = statSync(this.#file, { throwIfNoEntry: false })
    return there !== undefined && placeOf(there) === this.#place
  }

  /**
   * Writes entries, one per line, in a single write.
   * @returns undefined, or a promise, once they are written (with fsync: synced)
   * @throws StoreError STORE_WRITE_FAILED, without any of them in the file
   */
  append(entries: readonly string[]): Promise<void> | undefined {
    const failed = (error: unknown) => {
      throw cannot('STORE_WRITE_FAILED', 'write to', this.#file, error)
    }
    if (this.#isWorking || this.#fsync) return this.between(() => this.write(entries)).catch(failed)
    try {
      this.#writeLines(entries)
      return undefined
    } catch (error) {
      return failed(error)
    }
  }

  between<T>(task: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push(async () => {
        try {
          resolve(await task())
        } catch (error) {
          reject(error)
        }
      })
      if (!this.#isWorking) void this.#work()
    })
  }

  async write(entries: readonly string[]): Promise<void> {
    const { length, chain } = this.end
    this.#writeLines(entries)
    if (!this.#fsync) return
    try {
      await this.#disk.sync(this.#fd)
    } catch (error) {
      this.#length = length
      this.#chain = chain
      this.#cutBack()
      throw error
    }
  }

  #writeLines(entries: readonly string[]): void {
    let chain = this.#chain ?? FIRST_CHAIN
    let text = this.#chain === undefined ? journalHead(chain) : ''
    for (const entry of entries) {
      chain = crc32(entry, chain)
      text += journalLine(entry, chain)
    }
    this.#writeText(text)
    this.#chain = chain
  }

  /** Completes a last line that lacks its line feed. */
  async endLine(): Promise<void> {
    this.#writeText('\n')
    if (this.#fsync) await this.#disk.sync(this.#fd)
  }

  #writeText(text: string): void {
    const bytes = Buffer.from(text)
    try {
      this.#cutToLength()
      for (let at = 0; at < bytes.length; ) at += this.#disk.write(this.#fd, bytes.subarray(at))
      if (!this.isInPlace()) throw new Error('it was removed or moved while the sandbox was running')
      this.#length += bytes.length
    } catch (error) {
      this.#cutBack()
      throw error
    }
  }

  #cutBack(): void {
    this.#isTooLong = true
    try {
      this.#cutToLength()
    } catch {}
  }

  /** Keeps only the lines between two ends, in a new file of the same name; call it from a task only. */
  async cut(from: JournalEnd, to: JournalEnd): Promise<void> {
    const lines = Buffer.alloc(to.length - from.length)
    if (readSync(this.#fd, lines, 0, lines.length, from.length) !== lines.length) {
      throw new Error(`"${this.#file}" is too short`)
    }
    // Lines appended to an empty journal already start with a head.
    const needsHead = lines.length > 0 && from.chain !== undefined
    const kept = needsHead ? Buffer.concat([Buffer.from(journalHead(from.chain)), lines]) : lines
    const next = nextOf(this.#file)
    rmSync(next, { force: true })
    const fd = openRegularFile(next, FLAGS | constants.O_EXCL)
    try {
      for (let at = 0; at < kept.length; ) at += this.#disk.write(fd, kept.subarray(at))
      if (this.#fsync) await this.#disk.sync(fd)
      renameSync(next, this.#file)
    } catch (error) {
      closeSync(fd)
      rmSync(next, { force: true })
      throw error
    }
    closeSync(this.#fd)
    this.#fd = fd
    this.#place = placeOf(fstatSync(fd))
    this.#length = kept.length
    this.#chain = lines.length > 0 ? to.chain : undefined
    this.#isTooLong = false
    if (this.#fsync) await syncFolder(this.#file)
  }

  /**
   * Closes the file, and removes it if empty. No task may be running.
   * @param keepsFile for a journal that another process may write to
   */
  close({ keepsFile = false } = {}): void {
    closeSync(this.#fd)
    // A late write must not reach another file with the same descriptor.
    this.#fd = -1
    if (this.#length === 0 && !keepsFile) rmSync(this.#file, { force: true })
  }

  #cutToLength(): void {
    if (!this.#isTooLong) return
    this.#disk.truncate(this.#fd, this.#length)
    this.#isTooLong = false
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let task = this.#queue.shift(); task !== undefined; task = this.#queue.shift()) await task()
    this.#isWorking = false
  }
}

function nextOf(file: string): string {
  return `${file}.next`
}

function placeOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`
}

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
