import type { Change, SpaceState } from '../domain/state.js'

/** Durable home of one space. */
export interface Store {
  /**
   * Resolves when the change survives the process; changes are written in the order given.
   * Rejects when it could not be written (StoreFull where there is no room); then nothing of it is in the store.
   */
  append(change: Change): Promise<void>
}

/** A store that is opened at the start and closed at the end. */
export interface DurableStore extends Store {
  /** Begins to write, a new store with the whole state. @param current returns the whole present state */
  start(current: () => SpaceState): Promise<void>
  /** Waits for what is being written, and gives the store free. */
  close(): Promise<void>
}

/** A store, and the state that it held: undefined for a new one. */
export interface OpenedStore {
  readonly state: SpaceState | undefined
  readonly store: DurableStore
}
