import { closeSync, constants, fstatSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { openRegularFile } from '../system/regular-file.js'
import type { Disk } from './disk.js'
import { checksumOf, FIRST_CHAIN, journalHead, journalLine } from './journal-line.js'
import { cannot } from './store-error.js'
import { syncFolder } from './sync-folder.js'

/** Reading and appending; writes always go to the end. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT

/** How far a journal goes. */
export interface JournalEnd {
  /** In bytes. */
  readonly length: number
  /** Checksum of its last line; undefined while it has no head, as one that is empty or of the first version. */
  readonly chain: number | undefined
}

/**
 * A file that lines are appended to.
 *
 * One thing is done at a time: lines are written at once where nothing else is
 * going on, and otherwise when it is their turn.
 */
export class Journal {
  readonly #file: string
  readonly #fsync: boolean
  readonly #disk: Disk
  #fd: number
  #place: string
  #length: number
  #chain: number | undefined
  /** Whether the file may be longer than `#length`, after a failed write. */
  #isSpoiled: boolean
  readonly #queue: (() => Promise<void>)[] = []
  #isWorking = false

  /** @param end what is good; what is beyond is cut off before the next write */
  constructor(file: string, { length, chain }: JournalEnd, fsync: boolean, disk: Disk) {
    this.#file = file
    this.#fsync = fsync
    this.#disk = disk
    rmSync(nextOf(file), { force: true })
    this.#fd = openRegularFile(file, FLAGS)
    this.#place = placeOf(fstatSync(this.#fd))
    this.#length = length
    this.#chain = chain
    this.#isSpoiled = true
  }

  /** Number of bytes safely written. */
  get length(): number {
    return this.#length
  }

  /** What is written for good. */
  get end(): JournalEnd {
    return { length: this.#length, chain: this.#chain }
  }

  /** Whether the file is still where it was opened. What is written into one that was removed is gone with it. */
  isInPlace(): boolean {
    const there = statSync(this.#file, { throwIfNoEntry: false })
    return there !== undefined && placeOf(there) === this.#place
  }

  /**
   * Writes entries, a line each, all in one write.
   *
   * @returns undefined once they are written (with fsync: safe from a power cut), or a promise of that
   * @throws StoreError STORE_WRITE_FAILED (or the promise rejects); then nothing of them is in the file
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

  /** Runs a task when all that was asked for earlier is done, and before anything that is asked for later. */
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

  /** Writes entries; only for a task between others. */
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

  /** A part that was written before a failure is cut off again. */
  #writeLines(entries: readonly string[]): void {
    let chain = this.#chain ?? FIRST_CHAIN
    let text = this.#chain === undefined ? journalHead(chain) : ''
    for (const entry of entries) {
      chain = checksumOf(entry, chain)
      text += journalLine(entry, chain)
    }
    this.#writeText(text)
    this.#chain = chain
  }

  /** Gives a last line the line feed that it lacks. */
  async endLine(): Promise<void> {
    this.#writeText('\n')
    if (this.#fsync) await this.#disk.sync(this.#fd)
  }

  #writeText(text: string): void {
    const bytes = Buffer.from(text)
    try {
      this.#cutToLength()
      for (let at = 0; at < bytes.length; ) at += this.#disk.write(this.#fd, bytes.subarray(at))
      if (!this.isInPlace()) throw new Error('it was removed or moved away while the sandbox was running')
      this.#length += bytes.length
    } catch (error) {
      this.#cutBack()
      throw error
    }
  }

  #cutBack(): void {
    this.#isSpoiled = true
    try {
      this.#cutToLength()
    } catch {
      // Tried again before the next write.
    }
  }

  /** Keeps only the lines from one end to a later one, in a new file with the same name; only between writes. */
  async cut(from: JournalEnd, to: JournalEnd): Promise<void> {
    const lines = Buffer.alloc(to.length - from.length)
    if (readSync(this.#fd, lines, 0, lines.length, from.length) !== lines.length) {
      throw new Error(`"${this.#file}" is too short`)
    }
    // Lines that were written to a journal without a head have brought it with them.
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
    this.#isSpoiled = false
    if (this.#fsync) await syncFolder(this.#file)
  }

  /** Closes the file and removes it if empty. Nothing may be in progress. */
  close(): void {
    closeSync(this.#fd)
    if (this.#length === 0) rmSync(this.#file, { force: true })
  }

  #cutToLength(): void {
    if (!this.#isSpoiled) return
    this.#disk.truncate(this.#fd, this.#length)
    this.#isSpoiled = false
  }

  async #work(): Promise<void> {
    this.#isWorking = true
    for (let task = this.#queue.shift(); task !== undefined; task = this.#queue.shift()) await task()
    this.#isWorking = false
  }
}

/** Where a new journal is written before it replaces the old one. */
function nextOf(file: string): string {
  return `${file}.next`
}

/** Tells one file from another, as long as it is open. */
function placeOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`
}
