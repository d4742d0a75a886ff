import type { Change, SpaceState } from '../domain/state.js'
import type { Disk } from './disk.js'
import type { DocumentFile } from './document.js'
import type { Journal } from './journal.js'
import { entryText } from './journal-line.js'
import type { Lock } from './lock.js'
import { cannot, reason, StoreError } from './store-error.js'

/** What a store needs of its surroundings. */
export interface StoreOptions {
  /** Hold what is acknowledged against power loss, too. */
  readonly fsync: boolean
  /** Hears what a user should know, a sentence at a time. */
  readonly warn: (message: string) => void
  /** Milliseconds since the Unix epoch, for the names of kept files. */
  readonly now: () => number
  readonly disk?: Disk
}

/** A journal up to this size is never folded while running: a small document would be written all the time. */
const FOLD_MINIMUM_BYTES = 1024 * 1024

/** The durable home of one space: a readable document, and a journal of what came since. */
export class FileStore {
  readonly #document: DocumentFile
  readonly #journal: Journal
  readonly #lock: Lock
  readonly #options: StoreOptions
  #isNew: boolean
  /** Length of the journal at which it is folded. */
  #foldAt: number
  #current: (() => SpaceState) | undefined
  #folding: Promise<void> | undefined
  /** The first document of a new store, while it is being written. */
  #founding: Promise<void> | undefined
  #closing: Promise<void> | undefined

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
    this.#foldAt = Math.max(FOLD_MINIMUM_BYTES, documentBytes ?? 0)
  }

  /**
   * Writes a new store's first document, or folds what a crash left in the journal.
   *
   * @param current gives the whole present state. It must hold every change whose append has
   *   resolved, as soon as those who waited for it have run; later ones may be in it, too
   * @throws StoreError STORE_UNWRITABLE when a new store cannot be written
   */
  async start(current: () => SpaceState): Promise<void> {
    this.#current = current
    if (this.#isNew) {
      const written = this.#fold(current)
      this.#founding = written.finally(() => {
        this.#founding = undefined
      })
      this.#founding.catch(() => {})
      // A close that comes meanwhile waits for it.
      this.#folding = written
        .catch(() => {})
        .finally(() => {
          this.#folding = undefined
        })
      await written.catch((error: unknown) => {
        throw cannot('STORE_UNWRITABLE', 'write', this.#document.file, error)
      })
    } else if (this.#journal.length > 0) {
      await this.#foldOrWarn(current)
    }
  }

  /**
   * Resolves when the change survives the process (with fsync: the power cut).
   *
   * Changes given in the same turn are written together, in the order given.
   *
   * @throws StoreError STORE_WRITE_FAILED, then nothing of it is in the store; STORE_CLOSED
   */
  append(change: Change): Promise<void> {
    if (this.#closing !== undefined) {
      return Promise.reject(new StoreError('STORE_CLOSED', 'the store is closed; nothing can be written any more.'))
    }
    // A journal without its document is no store: what it acknowledged could not be read again.
    if (this.#founding !== undefined) return this.#founding.then(() => this.append(change))
    const written = this.#journal.append(entryText(change))
    if (this.#journal.length > this.#foldAt && this.#current !== undefined) void this.#foldOrWarn(this.#current)
    return written
  }

  /**
   * Waits for what is being written, folds, and gives the file free. A fold that fails is told.
   *
   * @throws StoreError STORE_LOST, when all is given free, if the store was taken away while it was in use
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#folding
    await this.#journal.between(() => {})
    try {
      if (
        this.#current !== undefined &&
        (this.#journal.length > 0 || (await this.#document.isEdited().catch(() => true)))
      ) {
        await this.#fold(this.#current).catch((error: unknown) => this.#tell(error))
      }
    } finally {
      this.#journal.close()
      this.#lock.release()
    }
  }

  /** Says that a fold has failed. @throws StoreError STORE_LOST if that has lost something */
  async #tell(error: unknown): Promise<void> {
    const { file } = this.#document
    if (!this.#journal.isInPlace() || !(await this.#document.isThere().catch(() => true))) {
      throw new StoreError(
        'STORE_LOST',
        `"${file}" was removed or moved away while the sandbox was running, and what it held cannot be written there again (${reason(error)}). What was moved away is as it was; what was removed is lost.`,
        { cause: error },
      )
    }
    this.#options.warn(
      `"${file}" could not be written (${reason(error)}). Nothing is lost: its journal keeps the changes.`,
    )
  }

  /** One fold at a time. One that fails loses nothing: the journal stays, and is folded when it is twice as long. */
  #foldOrWarn(current: () => SpaceState): Promise<void> {
    this.#folding ??= this.#fold(current)
      .catch((error: unknown) => {
        this.#foldAt = Math.max(FOLD_MINIMUM_BYTES, this.#journal.length * 2)
        return this.#tell(error)
      })
      .catch((lost: unknown) => this.#options.warn(reason(lost)))
      .finally(() => {
        this.#folding = undefined
      })
    return this.#folding
  }

  /**
   * Writes the document anew and cuts the journal to what came meanwhile.
   *
   * A mark goes into the journal before the document is replaced, so that a
   * crash before the cut does not replay what the document has already. A journal
   * that somebody has removed needs neither: the state is whole without it.
   */
  async #fold(current: () => SpaceState): Promise<void> {
    const { state, upTo } = await this.#journal.between(() => ({ state: current(), upTo: this.#journal.end }))
    this.#refuseOthers()
    try {
      const checksum = await this.#document.prepare(state)
      await this.#journal.between(async () => {
        this.#refuseOthers()
        const { end } = this.#journal
        const isCut = end.length > 0 && this.#journal.isInPlace()
        const mark = { kind: 'folded', document: String(checksum), upTo: upTo.length } as const
        if (isCut) await this.#journal.write([entryText(mark)])
        await this.#document.publish()
        if (isCut) await this.#journal.cut(upTo, end)
      })
      this.#isNew = false
      this.#foldAt = Math.max(FOLD_MINIMUM_BYTES, checksum.bytes)
    } finally {
      this.#document.discard()
    }
  }
  /** Without its lock the store may be somebody else's by now. */
  #refuseOthers(): void {
    if (!this.#lock.isHeld()) throw new Error('its lock was removed, and somebody else may use it')
  }
}
