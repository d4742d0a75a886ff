import type { Change, SpaceState } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'
import { setImmediate } from '../system/system-clock.js'

export interface ChangeWriter {
  /** Accepts a change, to be written with the others of this turn. @throws StoreFull */
  take(change: Change): void
  /**
   * Writes all accepted changes, in order.
   * @returns undefined, or a promise, once they survive a crash
   * @throws if writing failed, without any of them in the store
   */
  write(): Promise<void> | undefined
  drop(): void
}

export interface StateStore extends ChangeWriter {
  /** @param current returns the state, which includes all written changes @throws if the first state cannot be written */
  start(current: () => SpaceState): Promise<void>
  /** @returns undefined if there is room for this number of bytes, or if no room can be made */
  makeRoom(bytes: number): Promise<void> | undefined
  /** @param flush ends a write under way */
  close(flush?: () => Promise<void> | undefined): Promise<void>
}

export interface HeldReply {
  /** The error that rolled back a change visible in this reply. If set, the reply must not be sent. */
  withheld?: unknown
}

const OF_RECORDS: ReadonlySet<Change['kind']> = new Set(['pet', 'pet-removed', 'record', 'record-removed'])

interface Batch {
  readonly undos: (() => void)[]
  changes: number
  readonly replies: HeldReply[]
  affectsAllKeys: boolean
}

function newBatch(): Batch {
  return { undos: [], changes: 0, replies: [], affectsAllKeys: false }
}

/**
 * Holds replies back until the changes that they may reveal are written.
 *
 * Changes take effect immediately, and are written together at the end of the turn of the event loop, before its
 * replies are sent. If writing fails, they are rolled back, newest first, and the replies withheld.
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

  /** Call it before the change takes effect. @throws StoreFull */
  take(change: Change, undo: () => void): void {
    const batch = this.#batch
    this.#writer.take(change)
    if (!OF_RECORDS.has(change.kind)) batch.affectsAllKeys = true
    batch.changes++
    // Also writes if no reply waits, or only a delayed one.
    if (batch.undos.push(undo) === 1) setImmediate(() => void this.settle())
  }

  /** Adds a side effect to roll back together with pending changes, if any. */
  addUndo(undo: () => void): void {
    if (this.#batch.undos.length > 0) this.#batch.undos.push(undo)
    else this.#writing?.undos.push(undo)
  }

  /**
   * Registers a reply that may reveal changes which are not written yet.
   *
   * @param seesRecords whether it may reveal records; every reply reveals keys, and the effects of a reset or a restored snapshot
   */
  watch(reply: HeldReply, seesRecords = true): void {
    const { undos, affectsAllKeys, replies } = this.#batch
    const isHeld = seesRecords
      ? undos.length > 0 || this.#writing !== undefined
      : affectsAllKeys || this.#writing?.affectsAllKeys
    if (isHeld) replies.push(reply)
  }

  /** Writes pending changes. @returns undefined, or a promise, once all are written or rolled back; never rejects */
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

  /** Also rolls back later changes, which may depend on those that failed. */
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
    this.#warn(`${what} could not be stored and ${count === 1 ? 'was' : 'were'} rolled back: ${messageOf(error)}`)
  }
}
