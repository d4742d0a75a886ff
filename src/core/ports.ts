import type { Change } from '../domain/state.js'

/** Durable home of one space. */
export interface Store {
  /**
   * Resolves when the change survives the process; changes are written in the order given.
   * Rejects when it could not be written (StoreFull where there is no room); then nothing of it is in the store.
   */
  append(change: Change): Promise<void>
}
