import type { Change } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'
import { setImmediate } from '../system/timers.js'

export interface ChangeWriter {
  /** Accepts a change, to be written with the others of its turn. @throws StoreFull */
  take(change: Change): void
  /**
   * Writes the accepted changes, in order and all at once.
   *
   * @returns undefined once they survive the process, or a promise of that
   * @throws if they could not be written (or the promise rejects); then none of them is in the store
   */
  write(): Promise<void> | undefined
  drop(): void
}

/** A reply that may reveal changes which are not written yet. */
export interface HeldReply {
  /** Why it must not be sent: what it reveals could not be written, and was rolled back. */
  withheld?: unknown
}

interface Batch {
  readonly undos: (() => void)[]
  changes: number
  readonly replies: HeldReply[]
  /** Whether it changes anything but pets. */
  affectsAllKeys: boolean
}

function newBatch(): Batch {
  return { undos: [], changes: 0, replies: [], affectsAllKeys: false }
}

/**
 * Holds replies back until the changes that they may reveal are written.
 *
 * A change takes effect at once. The changes of a turn of the event loop are written together at its end, before any
 * reply of that turn is sent. If writing fails, they are rolled back, the newest first, and the replies withheld.
 *
 * @source docs/state.md, "Durability"
 */
export class Keeper {
  readonly #writer: ChangeWriter
  readonly #warn: (message: string) => void
  #batch = newBatch()
  #writing: Batch | undefined
  #written: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(writer: ChangeWriter, warn: (message: string) => void) {
    this.#writer = writer
    this.#warn = warn
  }

  /** Accepts a change that is about to take effect. @throws StoreFull */
  take(change: Change, undo: () => void): void {
    const batch = this.#batch
    this.#writer.take(change)
    if (change.kind !== 'pet' && change.kind !== 'pet-removed') batch.affectsAllKeys = true
    batch.changes++
    // Also written if no reply waits, or only a delayed one.
    if (batch.undos.push(undo) === 1) setImmediate(() => void this.settle())
  }

  /** Adds a side effect to roll back with the changes that are not written yet, if there are any. */
  addUndo(undo: () => void): void {
    if (this.#batch.undos.length > 0) this.#batch.undos.push(undo)
    else this.#writing?.undos.push(undo)
  }

  /**
   * Registers a reply that may reveal changes which are not written yet.
   *
   * @param seesPets whether it may reveal pets; every reply reveals keys, and the effects of a reset or a restored snapshot
   */
  watch(reply: HeldReply, seesPets = true): void {
    const { undos, affectsAllKeys, replies } = this.#batch
    const isHeld = seesPets
      ? undos.length > 0 || this.#writing !== undefined
      : affectsAllKeys || this.#writing?.affectsAllKeys
    if (isHeld) replies.push(reply)
  }

  /** Writes pending changes. @returns undefined if all are written or rolled back, or a promise of that, which never rejects */
  settle(): Promise<void> | undefined {
    if (this.#written !== undefined) {
      if (this.#batch.undos.length === 0) return this.#written
      this.#next ??= this.#written.then(() => {
        this.#next = undefined
        return this.settle()
      })
      return this.#next
    }
    if (this.#batch.undos.length === 0) return undefined
    this.#writing = this.#batch
    this.#batch = newBatch()
    try {
      const written = this.#writer.write()
      if (written === undefined) {
        this.#writing = undefined
        return undefined
      }
      this.#written = written.then(
        () => {
          this.#written = undefined
          this.#writing = undefined
        },
        (error: unknown) => this.#rollBack(error),
      )
      return this.#written
    } catch (error) {
      this.#rollBack(error)
      return undefined
    }
  }

  /** Later changes may build on those that could not be written, so they are rolled back too. */
  #rollBack(error: unknown): void {
    const batches = [this.#writing ?? newBatch(), this.#batch]
    this.#writer.drop()
    this.#batch = newBatch()
    this.#writing = undefined
    this.#written = undefined
    for (const reply of batches.flatMap(({ replies }) => replies)) reply.withheld = error
    for (const undo of batches.flatMap(({ undos }) => undos).reverse()) undo()
    const count = batches.reduce((sum, { changes }) => sum + changes, 0)
    const what = count === 1 ? 'A change' : `${count} changes`
    this.#warn(`${what} could not be stored, and ${count === 1 ? 'was' : 'were'} rolled back: ${messageOf(error)}`)
  }
}
