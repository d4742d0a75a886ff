import type { EpochMs } from '../domain/time.js'

export { LogUnavailable } from '../domain/problems.js'

/** Place of an entry: two whole numbers joined by a hyphen, which sort entries. */
export type EntryId = string

/** @returns a negative number if `a` comes before `b`, 0 if they are the same */
export function compareIds(a: EntryId, b: EntryId): number {
  const [[high = 0, low = 0] = [], [otherHigh = 0, otherLow = 0] = []] = [a, b].map((id) => id.split('-').map(Number))
  return high - otherHigh || low - otherLow
}

/** What one replica did in one turn of its event loop. */
export interface Entry {
  readonly id: EntryId
  /** When the log took it, by the clock of the log, which never goes back: milliseconds since 1970. */
  readonly now: EpochMs
  /** Who appended it: an id that is never reused. */
  readonly replica: string
  /** Increasing number among the entries of its replica, from 1. Abandoned entries leave gaps. */
  readonly batch: number
  readonly text: string
}

export type NewEntry = Pick<Entry, 'replica' | 'batch' | 'text'>

export interface StoredCheckpoint {
  readonly id: EntryId
  /** Its text in pieces that are small enough to be handled one at a time. */
  readonly pieces: Iterable<string>
}

export interface LogFollower {
  /** Entries in the order of the log, each once; several at a time if there are several. */
  entries(entries: readonly Entry[]): void
  /**
   * Entries that were read are gone (a failover), or the next ones are (trimmed before they were read). This
   * follower receives nothing more.
   */
  lost(reason: string): void
}

/** Hears whether a log can be used: each change once, starting with the first failure. */
export interface LogWatcher {
  available(): void
  /** The log cannot be reached, or refuses writes. @param reason for users, without secrets */
  unavailable(reason: string): void
}

/**
 * The log that all replicas of a group share, and their only source of truth.
 *
 * Any storage that keeps order, keeps what it has accepted, and accepts an entry only once can implement it.
 */
export interface CommandLog {
  /**
   * Appends an entry exactly once, even if the connection breaks in between. Several entries of a replica may be
   * pending; they are stored in the order of the calls.
   *
   * @param signal gives up at once. Whether the entry was stored is then reported by `follow`, before any later
   *   entry of this replica, or never: it can no longer be stored once a later `append` has succeeded, or an `end`
   *   while no earlier one is pending
   * @returns its place, once the requested number of copies have it
   * @throws LogUnavailable when given up; LogLost if the log no longer has earlier entries of this replica
   */
  append(entry: NewEntry, signal: AbortSignal): Promise<EntryId>
  /**
   * Reads what comes after an entry, across interruptions, until it is stopped.
   *
   * @param after an entry of the log; undefined for the beginning of the log
   * @returns stops it
   */
  follow(after: EntryId | undefined, follower: LogFollower): () => void
  /** The last entry (undefined if the log is empty) and the time of the log's clock. @throws LogUnavailable */
  end(): Promise<{ readonly id: EntryId | undefined; readonly now: EpochMs }>
  loadCheckpoint(): Promise<StoredCheckpoint | undefined>
  /**
   * Replaces the checkpoint, then trims the log. Ignored if the checkpoint is not newer than the stored one. Pieces
   * are requested a few at a time, in separate turns of the event loop.
   *
   * @param trimUpTo the oldest entry to keep, not after the checkpoint's
   * @throws LogUnavailable; LogLost if the checkpoint's entry is not in the log
   */
  saveCheckpoint(checkpoint: StoredCheckpoint, trimUpTo: EntryId): Promise<void>
  /** Removes entries, checkpoint and all bookkeeping. For `--reset`. @throws LogUnavailable */
  clear(): Promise<void>
  close(): Promise<void>
}

/** The log lacks entries that this replica has read or appended. */
export class LogLost extends Error {
  override readonly name = 'LogLost'
}

/** Combines the availability of the parts of a log into one: reports each change once. */
export class Availability {
  readonly #watcher: LogWatcher
  readonly #reasons = new Map<object, string>()
  #reported: string | undefined
  #isEnded = false

  constructor(watcher: LogWatcher) {
    this.#watcher = watcher
  }

  /** Adds a part, which is available until it reports otherwise. */
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
