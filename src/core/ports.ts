import type { Change } from '../domain/state.js'

/** Keeps the changes of one space, before any answer leaves that may tell of them. */
export interface Store {
  /**
   * Takes a change that is about to be made.
   *
   * @param undo takes it back, should it turn out that it cannot be kept
   * @throws StoreFull where there is no room for it; it must not be made then
   */
  take(change: Change, undo: () => void): void
  /**
   * Takes back what was done beside changes that are not kept yet, should they turn out not to be. Where there are
   * none, it stays: nobody is told that it failed.
   */
  takeAlong(undo: () => void): void
}
