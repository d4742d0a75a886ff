import { closeSync, constants, readSync, renameSync, rmSync } from 'node:fs'
import { openRegularFile } from '../regular-file.js'
import type { Disk } from './disk.js'
import { cannot } from './store-error.js'
import { syncFolder } from './sync-folder.js'

/** Appends and reads; writes always go to the end. */
const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT

/** Lines that are written together, and the promise that all their callers hold. */
interface Batch {
  readonly kind: 'batch'
  text: string
  readonly written: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Task {
  readonly kind: 'task'
  readonly run: () => Promise<void>
}

/**
 * A file that lines are added to, a turn's lines in one write.
 *
 * One loop does everything, so that between two writes nothing is under way.
 */
export class Journal {
  readonly #file: string
  readonly #fsync: boolean
  readonly #disk: Disk
  #fd: number
  #length: number
  /** Whether there may be more in the file than `#length`, after a write that failed. */
  #isSpoiled: boolean
  readonly #queue: (Batch | Task)[] = []
  #isWorking = false

  /** @param length bytes that are good; what is beyond is cut off before the next write */
  constructor(file: string, length: number, fsync: boolean, disk: Disk) {
    this.#file = file
    this.#fsync = fsync
    this.#disk = disk
    rmSync(nextOf(file), { force: true })
    this.#fd = openRegularFile(file, FLAGS)
    this.#length = length
    this.#isSpoiled = true
  }

  /** Bytes that are written for good. */
  get length(): number {
    return this.#length
  }

  /** Resolves when the line is written, rejects when nothing of it is. */
  append(line: string): Promise<void> {
    const last = this.#queue.at(-1)
    const batch = last?.kind === 'batch' ? last : newBatch()
    batch.text += line
    if (batch !== last) this.#add(batch)
    return batch.written
  }

  /** Runs a task after all lines given before it, when those who waited for them have heard, and before all lines given after it. */
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

  /** Writes at once; only for a task between writes. A part that was written before a failure is cut off again. */
  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text)
    try {
      this.#cutToLength()
      for (let at = 0; at < bytes.length; ) at += this.#disk.write(this.#fd, bytes.subarray(at))
      if (this.#fsync) await this.#disk.sync(this.#fd)
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

  /** Keeps only the bytes from one place to another, in a new file with the same name; only between writes. */
  async cut(from: number, to: number): Promise<void> {
    const kept = Buffer.alloc(to - from)
    if (readSync(this.#fd, kept, 0, kept.length, from) !== kept.length) throw new Error(`"${this.#file}" is too short`)
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
    this.#length = kept.length
    this.#isSpoiled = false
    if (this.#fsync) await syncFolder(this.#file)
  }

  /** Closes the file; an empty one is removed. Nothing may be under way. */
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
      // All of a turn's lines are in one batch, and everybody has heard of the last one.
      await new Promise((resolve) => setImmediate(resolve))
      const job = this.#queue.shift()
      if (job?.kind === 'task') await job.run()
      else if (job !== undefined) await this.#writeBatch(job)
    }
    this.#isWorking = false
  }

  async #writeBatch({ text, resolve, reject }: Batch): Promise<void> {
    try {
      await this.write(text)
      resolve()
    } catch (error) {
      reject(cannot('STORE_WRITE_FAILED', 'write to', this.#file, error))
    }
  }
}

/** Where a new journal is written before it takes the old one's place. */
function nextOf(file: string): string {
  return `${file}.next`
}

function newBatch(): Batch {
  let resolve: Batch['resolve'] = () => {}
  let reject: Batch['reject'] = () => {}
  const written = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { kind: 'batch', text: '', written, resolve, reject }
}
