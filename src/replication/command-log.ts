import type { EpochMs } from '../domain/time.js'

export { LogUnavailable } from '../domain/log-unavailable.js'

/** Where an entry stands in the log: two whole numbers with a hyphen between them, which put entries in order. */
export type EntryId = string

/** Negative where one entry stands before another, 0 where they are the same. */
export function compareIds(a: EntryId, b: EntryId): number {
  const [[high = 0, low = 0] = [], [otherHigh = 0, otherLow = 0] = []] = [a, b].map((id) => id.split('-').map(Number))
  return high - otherHigh || low - otherLow
}

/** What one replica did in one turn of its event loop. */
export interface Entry {
  readonly id: EntryId
  /** When the log took it, by the clock of the log, which never goes back: milliseconds since 1970. */
  readonly now: EpochMs
  /** Who appended it: a name that no other replica ever had. */
  readonly replica: string
  /** Number of the entry among those of its replica, from 1: each is higher than the one before. What was given up may be missing. */
  readonly batch: number
  /** What it says, as `batch-text.ts` writes it. */
  readonly text: string
}

/** A whole sandbox as it stood after an entry. */
export interface StoredCheckpoint {
  readonly id: EntryId
  /** Its text, in pieces that are short enough to be written, sent and read one after the other. */
  readonly pieces: Iterable<string>
}

/** Hears what a log has to say. */
export interface LogFollower {
  /** Entries in the order of the log, each once; several at a time when there are several. */
  entries(entries: readonly Entry[]): void
  /**
   * What was read is no longer in the log, or what comes next no longer is: the log lost its end
   * (a failover), or cut off what had not been read yet. Nothing more is told to this follower.
   */
  lost(reason: string): void
}

/** Hears whether a log can be used: each change once, beginning with the first time that it cannot. */
export interface LogWatcher {
  /** It can be used again. */
  available(): void
  /** It cannot be reached, or takes nothing. @param reason for people, without secrets */
  unavailable(reason: string): void
}

/**
 * One log that all replicas of a group share: the only truth that they have.
 *
 * Whatever keeps order, keeps what it has taken, and takes a thing once can be such a log.
 */
export interface CommandLog {
  /**
   * Appends an entry exactly once, however often the connection breaks meanwhile: it looks up
   * whether the entry is there before it appends it again. Several of a replica may be under way at
   * a time: none stands before one that was handed in before it. A batch is for one text only, and
   * each has a higher number than the one before, given up or not.
   *
   * @param signal gives up, at once. Whether the entry stands in the log is then told by `follow`,
   *   before any later entry of this replica, or never: once an `append` handed in after it has succeeded,
   *   or an `end` while nothing handed in before it is under way, it will not be appended
   * @returns where it stands, once as many copies have it as was asked for
   * @throws LogUnavailable when given up; LogLost when the log no longer has this replica's former entries
   */
  append(entry: Pick<Entry, 'replica' | 'batch' | 'text'>, signal: AbortSignal): Promise<EntryId>
  /**
   * Reads what comes after an entry, for ever, across interruptions.
   *
   * @param after an entry that is in the log, else it is lost; undefined: from the beginning of the log
   * @returns stops it
   */
  follow(after: EntryId | undefined, follower: LogFollower): () => void
  /**
   * Where the log ends now (undefined: it is empty), and what its clock says.
   *
   * @throws LogUnavailable
   */
  end(): Promise<{ readonly id: EntryId | undefined; readonly now: EpochMs }>
  /** The newest checkpoint, its pieces as they were written. @throws LogUnavailable */
  loadCheckpoint(): Promise<StoredCheckpoint | undefined>
  /**
   * Keeps a checkpoint in place of the former one, and then cuts off entries. One that is not
   * newer than the former is not kept, and cuts off nothing. Its pieces are asked for a few at a
   * time, in turns of the event loop of their own.
   *
   * @param trimUpTo the last entry that nobody has to read any more: those before it are cut off, itself
   *   stays, so that it can be followed from. Never after the checkpoint's
   * @throws LogUnavailable; LogLost if the checkpoint's entry is not in the log
   */
  saveCheckpoint(checkpoint: StoredCheckpoint, trimUpTo: EntryId): Promise<void>
  /** Forgets everything: entries, checkpoint, what replicas appended. For `--reset`. @throws LogUnavailable */
  clear(): Promise<void>
  /** Lets go of the log. What is under way fails with LogUnavailable. */
  close(): Promise<void>
}

/** The log is not the one that it was: it lacks what this replica had read or appended. */
export class LogLost extends Error {
  override readonly name = 'LogLost'
}
