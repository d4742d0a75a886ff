import type { Pet } from '../domain/pets.js'
import type { Change, SpaceState } from '../domain/state.js'
import { StoreFull } from '../domain/store-full.js'
import { messageOf } from '../system/message-of.js'
import type { Disk } from './disk.js'
import type { DocumentFile } from './document.js'
import type { Journal } from './journal.js'
import { entryText } from './journal-line.js'
import type { Lock } from './lock.js'
import type { Reader } from './shape.js'
import { cannot, StoreError } from './store-error.js'

/** What a store needs from its owner. */
export interface StoreOptions {
  /** Also protect acknowledged changes against power loss. */
  readonly fsync: boolean
  /** Called with what a user should know, one sentence at a time. */
  readonly warn: (message: string) => void
  /** Milliseconds since the Unix epoch, for the names of kept files. */
  readonly now: () => number
  /** How many bytes document and journal may take together. A compaction writes a new document beside them for a while. */
  readonly maxBytes: number
  readonly disk?: Disk
  /** What takes a value from a file for a pet; of the packaged contract, unless another is served. */
  readonly readPet?: Reader<Pet> | undefined
}

/** A journal up to this size is not compacted while running, or a small document would be rewritten all the time. */
const COMPACT_MINIMUM_BYTES = 1024 * 1024

/** A full store is compacted when its journal has come to this part of its document: then it may free something. */
const WORTH_FOLDING = 1 / 16

/** The durable home of one space: a readable document, and a journal of what came since. */
export class FileStore {
  readonly #document: DocumentFile
  readonly #journal: Journal
  readonly #lock: Lock
  readonly #options: StoreOptions
  #isNew: boolean
  /** Length of the journal at which it is compacted. */
  #compactAt: number
  #documentBytes: number
  /** Length of the journal at which a full store is compacted to make room. */
  #worthFoldingAt = 0
  #hasToldFull = false
  #current: (() => SpaceState) | undefined
  #compacting: Promise<void> | undefined
  /** The first document of a new store, while it is being written. */
  #founding: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Taken and not written yet, and about how many bytes that, and what is being written, will take. */
  #taken: string[] = []
  #takenBytes = 0
  #waitingBytes = 0
  /** How many changes were taken, and up to which one they are written. */
  #takes = 0
  #writtenTakes = 0
  /** How often a write has failed: what was taken back then may be in a state that was given before. */
  #failures = 0

  /** Use openFileStore. @param documentBytes undefined if there is no document yet */
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
    this.#compactAt = Math.max(COMPACT_MINIMUM_BYTES, this.#documentBytes)
  }

  /**
   * Writes a new store's first document, or compacts what a crash left in the journal.
   *
   * @param current returns the whole present state. It must include every change that was written; later ones may be in it, too
   * @throws StoreError STORE_UNWRITABLE when a new store cannot be written
   */
  async start(current: () => SpaceState): Promise<void> {
    this.#current = current
    if (this.#isNew) {
      const written = this.#compact(current)
      this.#founding = written.finally(() => {
        this.#founding = undefined
      })
      this.#founding.catch(() => {})
      // A close in the meantime waits for it.
      this.#compacting = written
        .catch(() => {})
        .finally(() => {
          this.#compacting = undefined
        })
      await written.catch((error: unknown) => {
        throw cannot('STORE_UNWRITABLE', 'write', this.#document.file, error)
      })
    } else if (this.#journal.length > 0) {
      await this.#compactOrWarn(current)
    }
  }

  /**
   * Takes a change to be written.
   *
   * A full store takes what needs no more room: removals, and a state in place of its own.
   *
   * @throws StoreFull
   */
  take(change: Change): void {
    const entry = entryText(change)
    const bytes = Buffer.byteLength(entry)
    if (change.kind !== 'pet' && change.kind !== 'key') this.#worthFoldingAt = 0
    else if (!this.#hasRoom(bytes)) throw this.#full()
    this.#takes++
    this.#taken.push(entry)
    this.#takenBytes += bytes
  }

  /**
   * Writes what was taken, in order, in one go.
   *
   * @returns undefined once it survives the process (with fsync: the power cut), or a promise of that
   * @throws StoreError STORE_WRITE_FAILED, in which case none of it is in the store; STORE_CLOSED
   */
  write(): Promise<void> | undefined {
    const entries = this.#taken
    const bytes = this.#takenBytes
    const takes = this.#takes
    this.drop()
    if (this.#closing !== undefined) throw closed()
    // A journal without its document is not a store: acknowledged changes could not be read back.
    const written =
      this.#founding === undefined
        ? this.#append(entries, takes)
        : this.#founding.then(() => this.#append(entries, takes))
    if (written === undefined) return undefined
    this.#waitingBytes += bytes
    return written.finally(() => {
      this.#waitingBytes -= bytes
    })
  }

  /** Lets go of what was taken and not written. */
  drop(): void {
    this.#taken = []
    this.#takenBytes = 0
  }

  #append(entries: readonly string[], takes: number): Promise<void> | undefined {
    const done = () => {
      this.#writtenTakes = takes
      if (this.#journal.length > this.#compactAt) void this.#compactOrWarn(this.#current)
    }
    const failed = (error: unknown) => {
      this.#failures++
      throw error
    }
    try {
      const written = this.#journal.append(entries)
      if (written !== undefined) return written.then(done, failed)
      done()
      return undefined
    } catch (error) {
      return failed(error)
    }
  }

  #hasRoom(bytes: number): boolean {
    const { length } = this.#journal
    const coming = this.#waitingBytes + this.#takenBytes + bytes
    return this.#documentBytes + length + coming <= this.#options.maxBytes
  }

  #full(): StoreFull {
    const full = new StoreFull(`"${this.#document.file}"`, this.#options.maxBytes)
    if (!this.#hasToldFull) this.#options.warn(full.message)
    this.#hasToldFull = true
    return full
  }

  /**
   * Makes room for a change, if it can: a compaction does, where changes to the same pets, or removals, are in the journal.
   *
   * @param bytes about as many as it will take
   * @returns undefined if there is room, or none can be made; else when there is as much as can be made
   */
  makeRoom(bytes: number): Promise<void> | undefined {
    if (this.#hasRoom(bytes)) return undefined
    const { length } = this.#journal
    const isWorthFolding = length > 0 && length >= this.#worthFoldingAt
    return this.#compacting !== undefined || isWorthFolding ? this.#compactOrWarn(this.#current) : undefined
  }

  /**
   * Waits for what is being written, compacts, and gives the file free. A compaction that fails is told.
   *
   * @throws StoreError STORE_LOST, when all is given free, if the store was taken away while it was in use
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#compacting
    await this.#journal.between(() => {})
    try {
      if (
        this.#current !== undefined &&
        (this.#journal.length > 0 || (await this.#document.isEdited().catch(() => true)))
      ) {
        await this.#compact(this.#current).catch((error: unknown) => this.#tell(error))
      }
    } finally {
      this.#journal.close()
      this.#lock.release()
    }
  }

  /** Says that a compaction has failed. @throws StoreError STORE_LOST if that has lost something */
  async #tell(error: unknown): Promise<void> {
    const { file } = this.#document
    if (!this.#journal.isInPlace() || !(await this.#document.isThere().catch(() => true))) {
      throw new StoreError(
        'STORE_LOST',
        `"${file}" was removed or moved away while the sandbox was running, and what it held cannot be written there again (${messageOf(error)}). What was moved away is as it was; what was removed is lost.`,
        { cause: error },
      )
    }
    this.#options.warn(
      `"${file}" could not be written (${messageOf(error)}). Nothing is lost: its journal keeps the changes.`,
    )
  }

  /** One compaction at a time. A failed one loses nothing: the journal stays, and is compacted when it is twice as long. */
  #compactOrWarn(current: (() => SpaceState) | undefined): Promise<void> {
    if (current === undefined) return Promise.resolve()
    this.#compacting ??= this.#compact(current)
      .catch((error: unknown) => {
        this.#compactAt = Math.max(COMPACT_MINIMUM_BYTES, this.#journal.length * 2)
        this.#worthFoldingAt = this.#journal.length * 2
        return this.#tell(error)
      })
      .catch((lost: unknown) => this.#options.warn(messageOf(lost)))
      .finally(() => {
        this.#compacting = undefined
      })
    return this.#compacting
  }

  /**
   * Writes a new document and cuts the journal down to what came in the meantime.
   *
   * A mark goes into the journal before the document is replaced, so that a
   * crash before the cut does not replay what the document already has. A journal
   * that somebody has removed needs neither: the state is whole without it.
   */
  async #compact(current: () => SpaceState): Promise<void> {
    const { state, upTo, takes, failures } = await this.#journal.between(() => ({
      state: current(),
      upTo: this.#journal.end,
      takes: this.#takes,
      failures: this.#failures,
    }))
    this.#refuseOthers()
    try {
      const checksum = await this.#document.prepare(state)
      // The state had what was taken by then; the document must not have it before it is sure to be kept.
      while (this.#writtenTakes < takes && this.#failures === failures)
        await new Promise((resolve) => setImmediate(resolve))
      await this.#journal.between(async () => {
        this.#refuseOthers()
        // What could not be written since was taken back, but it may be in this document.
        if (this.#failures > failures) throw new Error('the journal could not be written meanwhile')
        const { end } = this.#journal
        const isCut = end.length > 0 && this.#journal.isInPlace()
        const mark = { kind: 'folded', document: String(checksum), upTo: upTo.length } as const
        if (isCut) await this.#journal.write([entryText(mark)])
        await this.#document.publish()
        if (isCut) await this.#journal.cut(upTo, end)
      })
      this.#isNew = false
      this.#documentBytes = checksum.bytes
      this.#compactAt = Math.max(COMPACT_MINIMUM_BYTES, checksum.bytes)
      this.#worthFoldingAt = checksum.bytes * WORTH_FOLDING
    } finally {
      this.#document.discard()
    }
  }
  /** Without its lock the store may be somebody else's by now. */
  #refuseOthers(): void {
    if (!this.#lock.isHeld()) throw new Error('its lock was removed, and somebody else may use it')
  }
}

function closed(): StoreError {
  return new StoreError('STORE_CLOSED', 'the store is closed; nothing more can be written.')
}
