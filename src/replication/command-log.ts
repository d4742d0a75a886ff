import type { EpochMs } from '../domain/time.js'

export { LogUnavailable } from '../domain/problems.js'

/** Two integers joined by a hyphen, which order the entries. */
export type EntryId = string

/** @returns a negative number if `a` is before `b`, 0 if they are equal */
export function compareIds(a: EntryId, b: EntryId): number {
  const [[high = 0, low = 0] = [], [otherHigh = 0, otherLow = 0] = []] = [a, b].map((id) => id.split('-').map(Number))
  return high - otherHigh || low - otherLow
}

/** Commands of one replica in one turn of its event loop. */
export interface Entry {
  readonly id: EntryId
  /** By the clock of the log, which never goes back. */
  readonly now: EpochMs
  /** Id of the replica that appended the entry, never reused. */
  readonly replica: string
  /** Increases by replica, from 1. Abandoned entries leave gaps. */
  readonly batch: number
  readonly text: string
}

export type NewEntry = Pick<Entry, 'replica' | 'batch' | 'text'>

export interface StoredCheckpoint {
  readonly id: EntryId
  readonly pieces: Iterable<string>
}

export interface LogFollower {
  entries(entries: readonly Entry[]): void
  /** Entries were lost after they were read (a failover), or before (trimmed). No more calls follow. */
  lost(reason: string): void
}

export interface LogWatcher {
  available(): void
  /** @param reason for users, without secrets */
  unavailable(reason: string): void
}

/**
 * The log that all replicas of a group share: their only source of truth. An implementation needs a storage that keeps
 * order, never loses an accepted entry, and accepts each entry once.
 */
export interface CommandLog {
  /**
   * Appends an entry exactly once, even if the connection breaks. Several entries of a replica may be pending; they are
   * stored in the order of the calls.
   *
   * @param signal aborts the call. Whether the entry was stored is then reported by `follow`, before any later entry of
   *   this replica. It can no longer be stored once a later `append` has succeeded, or an `end` without an earlier pending
   *   `append`
   * @returns its id
   * @throws LogUnavailable when aborted; LogLost if the log no longer has earlier entries of this replica
   */
  append(entry: NewEntry, signal: AbortSignal): Promise<EntryId>
  /**
   * Reads all entries after an entry, across reconnects.
   * @param after undefined for the beginning of the log
   * @returns stops reading
   */
  follow(after: EntryId | undefined, follower: LogFollower): () => void
  /** The last entry (undefined if the log is empty) and the time of the log's clock. @throws LogUnavailable */
  end(): Promise<{ readonly id: EntryId | undefined; readonly now: EpochMs }>
  loadCheckpoint(): Promise<StoredCheckpoint | undefined>
  /**
   * Replaces the checkpoint, then trims the log. Ignored unless it is newer than the stored one. A few pieces are
   * requested at a time, in separate turns of the event loop.
   * @param trimUpTo the oldest entry to keep, not after the checkpoint's
   * @throws LogUnavailable; LogLost if the checkpoint's entry is not in the log
   */
  saveCheckpoint(checkpoint: StoredCheckpoint, trimUpTo: EntryId): Promise<void>
  /** For `--reset`. @throws LogUnavailable */
  clear(): Promise<void>
  close(): Promise<void>
}

export class LogLost extends Error {
  override readonly name = 'LogLost'
}

/** Combines the availability of several connections: reports each change once. */
export class Availability {
  readonly #watcher: LogWatcher
  readonly #reasons = new Map<object, string>()
  #reported: string | undefined
  #isEnded = false

  constructor(watcher: LogWatcher) {
    this.#watcher = watcher
  }

  part(): LogWatcher {
    const part = {}
    return {
      available: () => this.#change(() => this.#reasons.delete(part)),
      unavailable: (reason) => this.#change(() => this.#reasons.set(part, reason)),
    }
  }

  end(): void {
    this.#isEnded = true
  }

  #change(update: () => void): void {
    update()
    const [reason] = this.#reasons.values()
    if (this.#isEnded || reason === this.#reported) return
    this.#reported = reason
    if (reason === undefined) this.#watcher.available()
    else this.#watcher.unavailable(reason)
  }
}
