import { closeSync, constants, fstatSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { openRegularFile } from '../system/regular-file.js'
import type { Disk } from './disk.js'
import { checksumOf, FIRST_CHAIN, journalHead, journalLine } from './journal-line.js'
import { cannot } from './store-error.js'
import { syncFolder } from './sync-folder.js'

/** Reading and appending; writes always go to the end. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT

/** Lines that are written together, and the promise that all their callers hold. */
interface Batch {
  readonly kind: 'batch'
  readonly entries: string[]
  bytes: number
  readonly written: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Task {
  readonly kind: 'task'
  readonly run: () => Promise<void>
}

/** How far a journal goes. */
export interface JournalEnd {
  /** In bytes. */
  readonly length: number
  /** Checksum of its last line; undefined while it has no head, as one that is empty or of the first version. */
  readonly chain: number | undefined
}

/**
 * A file that lines are appended to, all lines of a turn in one write.
 *
 * One loop does everything, so that nothing is in progress between two writes.
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
  readonly #queue: (Batch | Task)[] = []
  #isWorking = false
  #waitingBytes = 0

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

  /** About as many bytes as are given, but not written yet. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /**
   * Resolves when an entry is written as a line, rejects when nothing of it is.
   *
   * @param bytes about as many as it will take
   */
  append(entry: string, bytes: number): Promise<void> {
    const last = this.#queue.at(-1)
    const batch = last?.kind === 'batch' ? last : newBatch()
    batch.entries.push(entry)
    batch.bytes += bytes
    this.#waitingBytes += bytes
    if (batch !== last) this.#add(batch)
    return batch.written
  }

  /** Runs a task after all earlier lines are written and their promises settled, and before any later line. */
  between<T>(task: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = async () => {
        try {
          resolve(await task())
        } catch (error) {
          reject(error)
        }
      }
      this.#add({ kind: 'task', run })
    })
  }

  /** Writes entries at once; only for a task between writes. A part that was written before a failure is cut off again. */
  async write(entries: readonly string[]): Promise<void> {
    let chain = this.#chain ?? FIRST_CHAIN
    let text = this.#chain === undefined ? journalHead(chain) : ''
    for (const entry of entries) {
      chain = checksumOf(entry, chain)
      text += journalLine(entry, chain)
    }
    await this.#writeText(text)
    this.#chain = chain
  }

  /** Gives a last line the line feed that it lacks. */
  async endLine(): Promise<void> {
    await this.#writeText('\n')
  }

  async #writeText(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    try {
      this.#cutToLength()
      for (let at = 0; at < bytes.length; ) at += this.#disk.write(this.#fd, bytes.subarray(at))
      if (this.#fsync) await this.#disk.sync(this.#fd)
      if (!this.isInPlace()) throw new Error('it was removed or moved away while the sandbox was running')
      this.#length += bytes.length
    } catch (error) {
      this.#isSpoiled = true
      try {
        this.#cutToLength()
      } catch {
        // Tried again before the next write.
      }
      throw error
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

  #add(job: Batch | Task): void {
    this.#queue.push(job)
    if (this.#isWorking) return
    this.#isWorking = true
    void this.#work()
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      // By now all lines of the turn are in one batch, and the promises of the last batch are settled.
      await new Promise((resolve) => setImmediate(resolve))
      const job = this.#queue.shift()
      if (job?.kind === 'task') await job.run()
      else if (job !== undefined) await this.#writeBatch(job)
    }
    this.#isWorking = false
  }

  async #writeBatch({ entries, bytes, resolve, reject }: Batch): Promise<void> {
    try {
      await this.write(entries).finally(() => {
        this.#waitingBytes -= bytes
      })
      resolve()
    } catch (error) {
      reject(cannot('STORE_WRITE_FAILED', 'write to', this.#file, error))
    }
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

function newBatch(): Batch {
  let resolve: Batch['resolve'] = () => {}
  let reject: Batch['reject'] = () => {}
  const written = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { kind: 'batch', entries: [], bytes: 0, written, resolve, reject }
}
