import type { Change } from '../domain/state.js'
import { messageOf } from '../system/message-of.js'

/** A durable home of one space: what is written, and when. */
export interface ChangeWriter {
  /** Takes a change to be written with the others of its turn. @throws StoreFull where there is no room for it */
  take(change: Change): void
  /**
   * Writes what was taken, in the order given and in one go.
   *
   * @returns undefined once it survives the process, or a promise of that
   * @throws if it could not be written (or the promise rejects); then nothing of it is in the store
   */
  write(): Promise<void> | undefined
  /** Lets go of what was taken and not written. */
  drop(): void
}

/** An answer that may tell of changes that are not written yet. */
export interface Witness {
  /** Why it must not leave: what it may tell of could not be kept, and was taken back. */
  withheld?: unknown
}

/** What is being written. */
interface Batch {
  readonly undos: (() => void)[]
  readonly changes: number
  readonly witnesses: readonly Witness[]
  readonly reaches: boolean
}

/**
 * Holds answers back until the changes that they may tell of are kept.
 *
 * A change is made at once. What a turn of the event loop has changed is written
 * in one go at its end, before any of its answers leaves. If that fails, the
 * changes are taken back, newest first, and the answers that may have seen them
 * are told so.
 *
 * @source docs/state.md, "Durability"
 */
export class Keeper {
  readonly #writer: ChangeWriter
  readonly #warn: (message: string) => void
  #undos: (() => void)[] = []
  #changes = 0
  #witnesses: Witness[] = []
  /** Whether what is not kept yet reaches further than to pets. */
  #reaches = false
  #writing: Batch | undefined
  #written: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(writer: ChangeWriter, warn: (message: string) => void) {
    this.#writer = writer
    this.#warn = warn
  }

  /** Takes a change that is about to be made. @throws StoreFull */
  take(change: Change, undo: () => void): void {
    this.#writer.take(change)
    if (change.kind !== 'pet' && change.kind !== 'pet-removed') this.#reaches = true
    this.#changes++
    // Also where nobody waits for an answer, or not before a long delay.
    if (this.#undos.push(undo) === 1) setImmediate(() => void this.settle())
  }

  /** Takes back what is done beside changes that are not kept yet, if they cannot be. It stays where there are none. */
  takeAlong(undo: () => void): void {
    if (this.#undos.length > 0) this.#undos.push(undo)
    else this.#writing?.undos.push(undo)
  }

  /**
   * Takes an answer that may tell of what is not kept yet.
   *
   * @param seesPets whether it may tell of pets; any answer tells of keys, and of what a reset or a restored snapshot sets
   */
  watch(witness: Witness, seesPets = true): void {
    if (seesPets ? this.#undos.length > 0 || this.#writing !== undefined : this.#reaches || this.#writing?.reaches)
      this.#witnesses.push(witness)
  }

  /** Writes what is not kept yet. @returns undefined if all is kept or taken back, or a promise of that, which never rejects */
  settle(): Promise<void> | undefined {
    if (this.#written !== undefined) {
      if (this.#undos.length === 0) return this.#written
      this.#next ??= this.#written.then(() => {
        this.#next = undefined
        return this.settle()
      })
      return this.#next
    }
    if (this.#undos.length === 0) return undefined
    this.#writing = {
      undos: this.#undos,
      changes: this.#changes,
      witnesses: this.#witnesses,
      reaches: this.#reaches,
    }
    this.#undos = []
    this.#changes = 0
    this.#witnesses = []
    this.#reaches = false
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
        (error: unknown) => this.#takeBack(error),
      )
      return this.#written
    } catch (error) {
      this.#takeBack(error)
      return undefined
    }
  }

  /** What was changed later may build on what could not be written, so it is taken back, too. */
  #takeBack(error: unknown): void {
    const { undos, changes, witnesses } = this.#writing ?? { undos: [], changes: 0, witnesses: [] }
    const count = changes + this.#changes
    this.#writer.drop()
    const all = [...undos, ...this.#undos]
    for (const witness of [...witnesses, ...this.#witnesses]) witness.withheld = error
    this.#undos = []
    this.#changes = 0
    this.#witnesses = []
    this.#reaches = false
    this.#writing = undefined
    this.#written = undefined
    for (const undo of all.reverse()) undo()
    const what = count === 1 ? 'A change' : `${count} changes`
    this.#warn(`${what} could not be stored, and ${count === 1 ? 'was' : 'were'} taken back: ${messageOf(error)}`)
  }
}
