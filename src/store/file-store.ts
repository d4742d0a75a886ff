import type { Pet } from '../domain/pets.js'
import { StoreFull } from '../domain/problems.js'
import type { Change, SpaceState } from '../domain/state.js'
import { type DurationMs, formatDuration, SECOND_MS } from '../domain/time.js'
import { within } from '../system/cleanup-stack.js'
import { messageOf } from '../system/message-of.js'
import { setImmediate } from '../system/system-clock.js'
import type { DocumentFile } from './document.js'
import type { Disk, Journal } from './journal.js'
import { entryText } from './journal-lines.js'
import type { StateStore } from './keeper.js'
import type { Lock } from './lock.js'
import type { Reader } from './shape.js'
import { cannot, StoreError } from './store-error.js'

export interface StoreOptions {
  readonly fsync: boolean
  readonly warn: (message: string) => void
  readonly now: () => number
  /** Limit of document and journal together. A compaction temporarily adds a new document. */
  readonly maxBytes: number
  readonly disk?: Disk
  readonly readPet?: Reader<Pet> | undefined
}

/** Smaller journals are not compacted while running: a small document would be rewritten constantly. */
const MIN_COMPACT_BYTES = 1024 * 1024

/** A full store is compacted once its journal has this share of its document, because then it may free space. */
const MIN_FULL_COMPACT_RATIO = 1 / 16

/** @source docs/state.md, "Durability" */
const CLOSE_TIMEOUT_MS: DurationMs = 5 * SECOND_MS

export class FileStore implements StateStore {
  readonly #document: DocumentFile
  readonly #journal: Journal
  readonly #lock: Lock
  readonly #options: StoreOptions
  readonly #isNew: boolean
  #documentBytes: number
  #compactAt: number
  #compactFullAt = 0
  #hasWarnedFull = false
  #current: (() => SpaceState) | undefined
  #compacting: Promise<void> | undefined
  #creating: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #isClosed = false
  #taken: string[] = []
  #takenBytes = 0
  #writingBytes = 0
  #takes = 0
  #settledTakes = 0
  #onSettled: () => void = () => {}
  /** Number of failed writes. An earlier state may contain changes that were rolled back since. */
  #failures = 0

  /** Use openFileStore. @param documentBytes undefined without a document */
  constructor(
    document: DocumentFile,
    journal: Journal,
    lock: Lock,
    options: StoreOptions,
    documentBytes: number | undefined,
  ) {
    this.#document = document
    this.#journal = journal
    this.#lock = lock
    this.#options = options
    this.#isNew = documentBytes === undefined
    this.#documentBytes = documentBytes ?? 0
    this.#compactAt = Math.max(MIN_COMPACT_BYTES, this.#documentBytes)
  }

  /**
   * Writes the first document of a new store, or compacts a journal left by a crash.
   * @param current returns the current state, which includes all written changes
   * @throws StoreError STORE_UNWRITABLE if a new store cannot be written
   */
  async start(current: () => SpaceState): Promise<void> {
    this.#current = current
    if (!this.#isNew) {
      if (this.#journal.length > 0) await this.#compactOrWarn()
      return
    }
    const written = this.#compact(current)
    this.#creating = written.finally(() => {
      this.#creating = undefined
    })
    this.#creating.catch(() => {})
    this.#compacting = written
      .catch(() => {})
      .finally(() => {
        this.#compacting = undefined
      })
    await written.catch((error: unknown) => {
      throw cannot('STORE_UNWRITABLE', 'write', this.#document.file, error)
    })
  }

  /** Accepts a change. A full store still accepts removals and replaced states. @throws StoreFull */
  take(change: Change): void {
    const entry = entryText(change)
    const bytes = Buffer.byteLength(entry)
    if (change.kind === 'replaced' || change.kind.endsWith('-removed')) this.#compactFullAt = 0
    else if (!this.#hasRoom(bytes)) throw this.#full()
    this.#takes++
    this.#taken.push(entry)
    this.#takenBytes += bytes
  }

  /**
   * Writes all accepted changes, in order.
   * @returns undefined, or a promise, once they survive a crash (with fsync: a power cut)
   * @throws StoreError STORE_WRITE_FAILED, without any of the changes in the store; STORE_CLOSED
   */
  write(): Promise<void> | undefined {
    if (this.#isClosed) throw new StoreError('STORE_CLOSED', 'The store is closed. No more changes can be written.')
    const entries = this.#taken
    const bytes = this.#takenBytes
    const takes = this.#takes
    this.#taken = []
    this.#takenBytes = 0
    // Without its document, a journal cannot be read back.
    const written =
      this.#creating === undefined
        ? this.#append(entries, takes)
        : this.#creating.then(() => this.#append(entries, takes))
    if (written === undefined) return undefined
    this.#writingBytes += bytes
    return written.finally(() => {
      this.#writingBytes -= bytes
    })
  }

  /** Discards changes that are not written; the caller has rolled them back. */
  drop(): void {
    this.#taken = []
    this.#takenBytes = 0
    this.#settle(this.#takes)
  }

  #settle(takes: number): void {
    this.#settledTakes = takes
    this.#onSettled()
  }

  #append(entries: readonly string[], takes: number): Promise<void> | undefined {
    const done = () => {
      this.#settle(takes)
      if (this.#journal.length > this.#compactAt) void this.#compactOrWarn()
    }
    const failed = (error: unknown) => {
      this.#failures++
      this.#settle(takes)
      // Only memory has the content of a removed journal. A compaction writes it, and starts a new journal.
      if (this.#lock.isHeld() && !this.#journal.isInPlace()) setImmediate(() => void this.#compactOrWarn())
      throw error
    }
    try {
      this.#checkLock()
      const written = this.#journal.append(entries)
      if (written !== undefined) return written.then(done, failed)
      done()
      return undefined
    } catch (error) {
      return failed(error)
    }
  }

  #hasRoom(bytes: number): boolean {
    const pending = this.#writingBytes + this.#takenBytes + bytes
    return this.#documentBytes + this.#journal.length + pending <= this.#options.maxBytes
  }

  #full(): StoreFull {
    const full = new StoreFull(`"${this.#document.file}"`, this.#options.maxBytes)
    if (!this.#hasWarnedFull) this.#options.warn(full.message)
    this.#hasWarnedFull = true
    return full
  }

  /**
   * Compacts, which frees space if the journal has removals or several changes of a record.
   * @returns undefined if there is room, or a compaction would not help
   */
  makeRoom(bytes: number): Promise<void> | undefined {
    if (this.#hasRoom(bytes)) return undefined
    const { length } = this.#journal
    const isWorthIt = this.#compacting !== undefined || (length > 0 && length >= this.#compactFullAt)
    return isWorthIt ? this.#compactOrWarn() : undefined
  }

  /**
   * Finishes writing, compacts, and releases the file within 5 s. A failed or slow compaction only warns, because the
   * journal has the changes.
   * @param flush writes pending changes
   * @throws StoreError STORE_LOST, after releasing everything, if the store was removed while in use
   */
  close(flush: () => Promise<void> | undefined = () => undefined): Promise<void> {
    this.#closing ??= this.#close(flush)
    return this.#closing
  }

  async #close(flush: () => Promise<void> | undefined): Promise<void> {
    try {
      const isDone = await within(CLOSE_TIMEOUT_MS, this.#finish(flush()))
      if (!isDone) await this.#report(new Error(`the disk took longer than ${formatDuration(CLOSE_TIMEOUT_MS)}`))
    } finally {
      this.#isClosed = true
      this.#journal.close({ keepsFile: !this.#lock.isHeld() })
      this.#lock.release()
    }
  }

  async #finish(flushed: Promise<void> | undefined): Promise<void> {
    if (flushed !== undefined) await flushed
    this.#isClosed = true
    await this.#compacting
    await this.#journal.between(() => {})
    if (this.#current === undefined) return
    if (this.#journal.length > 0 || (await this.#document.isEdited().catch(() => true)))
      await this.#compact(this.#current).catch((error: unknown) => this.#report(error))
  }

  async #report(error: unknown): Promise<void> {
    const { file } = this.#document
    if (!this.#journal.isInPlace() || !(await this.#document.exists().catch(() => true))) {
      throw new StoreError(
        'STORE_LOST',
        `"${file}" was removed or moved while the sandbox was running, and cannot be written again (${messageOf(error)}). Moved files are intact; removed files are lost.`,
        { cause: error },
      )
    }
    this.#options.warn(
      `"${file}" could not be written (${messageOf(error)}). No changes are lost: the journal has them.`,
    )
  }

  /** One compaction at a time. A failed one is retried when the journal is twice as long. */
  #compactOrWarn(): Promise<void> {
    if (this.#current === undefined) return Promise.resolve()
    this.#compacting ??= this.#compact(this.#current)
      .catch((error: unknown) => {
        this.#compactAt = Math.max(MIN_COMPACT_BYTES, this.#journal.length * 2)
        this.#compactFullAt = this.#journal.length * 2
        return this.#report(error)
      })
      .catch((lost: unknown) => this.#options.warn(messageOf(lost)))
      .finally(() => {
        this.#compacting = undefined
      })
    return this.#compacting
  }

  /**
   * Writes a new document and cuts the journal down to later changes.
   *
   * Before the document is replaced, a mark goes into the journal: a start after a crash in between skips the changes
   * that the document has. A removed journal is replaced by a new one.
   */
  async #compact(current: () => SpaceState): Promise<void> {
    const { state, upTo, takes, failures } = await this.#journal.between(() => ({
      state: current(),
      upTo: this.#journal.end,
      takes: this.#takes,
      failures: this.#failures,
    }))
    this.#checkLock()
    try {
      const checksum = await this.#document.prepare(state)
      // The state has all accepted changes, but the document may only have durable ones.
      while (this.#settledTakes < takes)
        await new Promise<void>((resolve) => {
          this.#onSettled = resolve
        })
      await this.#journal.between(async () => {
        this.#checkLock()
        // Changes that failed since were rolled back, but may be in this document.
        if (this.#failures > failures) throw new Error('a write to the journal failed at the same time')
        const { end } = this.#journal
        const isInPlace = this.#journal.isInPlace()
        const mark = { kind: 'folded', document: String(checksum), upTo: upTo.length } as const
        if (isInPlace && end.length > 0) await this.#journal.write([entryText(mark)])
        await this.#document.publish()
        if (!isInPlace || end.length > 0) await this.#journal.cut(upTo, end)
      })
      this.#documentBytes = checksum.bytes
      this.#compactAt = Math.max(MIN_COMPACT_BYTES, checksum.bytes)
      this.#compactFullAt = checksum.bytes * MIN_FULL_COMPACT_RATIO
    } finally {
      this.#document.discard()
    }
  }

  /** @throws StoreError STORE_WRITE_FAILED */
  #checkLock(): void {
    if (this.#lock.isHeld()) return
    throw new StoreError(
      'STORE_WRITE_FAILED',
      `Cannot write to "${this.#document.file}": its lock file was removed or taken over, so another process may use the store. Restart the sandbox.`,
    )
  }
}
