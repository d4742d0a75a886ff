import type { Change } from '../domain/state.js'
import { type EpochMs, readClock } from '../domain/time.js'
import type { OpenTransaction, Space } from './space.js'
import { isEqual, isSameState } from './space-state.js'
import type { ReplacedSpace } from './undo.js'

/**
 * A verb, or a handler of the user, that changes a space as a whole or not at all. It begins when it is constructed, and
 * ends with `end` or `rollBack`.
 */
export class Transaction implements OpenTransaction {
  readonly #space: Space
  readonly #before: Pick<Space, 'snapshots' | 'conduct' | 'undo' | 'hasUnsavedRecords'>
  readonly state: OpenTransaction['state']
  readonly keys: OpenTransaction['keys']
  readonly changes: Change[] = []
  log: OpenTransaction['log']
  file: OpenTransaction['file']
  readonly afterwards: (() => void)[] = []

  constructor(space: Space) {
    const { state, snapshots, conduct, undo, hasUnsavedRecords, shared } = space
    this.#space = space
    this.#before = { snapshots, conduct, undo, hasUnsavedRecords }
    this.state = state
    this.keys = shared.keys.all
    space.transaction = this
  }

  /**
   * Writes its changes, and shows its clock to conduct.
   * @returns what it has replaced; undefined if it has changed nothing
   * @throws StoreFull, Failure STORE_WRITE_FAILED, with none of the changes written: the verb has to be rolled back
   */
  end(wall: EpochMs): ReplacedSpace | undefined {
    const space = this.#space
    if (this.changes.length > 0) space.store?.append(this.changes)
    space.transaction = undefined
    for (const act of this.afterwards) act()
    const { state, log, file } = this
    // By value: after loading a checkpoint, equal clocks are different objects.
    if (!isEqual(state.clock, space.state.clock))
      space.conduct.clockMoved(readClock(state.clock, wall), space.now(wall), wall)
    const conduct = this.#before.conduct === space.conduct ? undefined : this.#before.conduct
    const snapshots = this.#before.snapshots === space.snapshots ? undefined : this.#before.snapshots
    const isSame = [conduct, snapshots, log, file].every((part) => part === undefined)
    return isSame && isSameState(state, space.state) ? undefined : { state, conduct, snapshots, log, file }
  }

  /** Nothing, once it has ended. */
  rollBack(): void {
    const space = this.#space
    if (space.transaction !== this) return
    space.transaction = undefined
    const { snapshots, conduct, undo, hasUnsavedRecords } = this.#before
    space.shared.memoryBudget.reserve(this.state.heldBytes - space.state.heldBytes)
    space.setSnapshots(snapshots)
    space.state = this.state
    space.conduct = conduct
    space.undo = undo
    space.hasUnsavedRecords = hasUnsavedRecords
    if (this.log !== undefined) space.log.restore(this.log)
  }
}
