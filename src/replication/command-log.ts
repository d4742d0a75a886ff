import type { EpochMs } from '../domain/time.js'

export { LogUnavailable } from '../domain/problems.js'

/** Commands of one replica in one turn of its event loop. */
export interface Entry {
  /** Its place in the log: 1 for the first, without gaps. */
  readonly number: number
  /** By the clock of the log, which never goes back. */
  readonly now: EpochMs
  /** Id of the replica that appended the entry, never reused. */
  readonly replica: string
  /** Increases by replica, from 1. Abandoned entries leave gaps. */
  readonly batch: number
  readonly text: string
}

export type NewEntry = Pick<Entry, 'replica' | 'batch' | 'text'>

/** Identifies an entry, even if the log lost it and another one took its number. */
export type Place = Pick<Entry, 'number' | 'replica' | 'batch'>

export const BEGINNING: Place = { number: 0, replica: '', batch: 0 }

/** The whole sandbox after an entry. */
export interface Checkpoint {
  readonly place: Place
  readonly text: string
}

export interface LogEnd {
  /** Of the last entry. */
  readonly number: number
  /** When the last entry was stored. */
  readonly writtenAt: EpochMs
  readonly now: EpochMs
  readonly hasCheckpoint: boolean
}

/**
 * The log that all replicas of a group share: their only source of truth. Its methods throw LogUnavailable, except where
 * they wait.
 */
export interface CommandLog {
  /** Why it cannot be reached now, for users, without secrets. */
  readonly unavailable: string | undefined
  /**
   * Stores an entry once, even if the connection breaks. Waits while the log cannot be reached. One call at a time.
   * @param stored the last batch of this replica that is known to be stored
   * @param signal stops waiting. `read` may still return the entry
   * @throws LogLost if the log no longer has earlier entries of this replica
   */
  append(entry: NewEntry, stored: number, signal: AbortSignal): Promise<void>
  /**
   * Returns entries after a place. Waits about a second for one, and while the log cannot be reached.
   * @throws LogLost if the log has not the entry at the place, or the one after it
   */
  read(after: Place): Promise<readonly Entry[]>
  end(): Promise<LogEnd>
  /** Undefined if there is none, or if it is damaged. */
  loadCheckpoint(): Promise<Checkpoint | undefined>
  /**
   * Replaces the checkpoint, unless the stored one is newer, and removes old entries.
   * @param keepFrom number of the oldest entry to keep
   * @throws LogLost if the log has not the entry of the checkpoint
   */
  saveCheckpoint(checkpoint: Checkpoint, keepFrom: number): Promise<void>
  /** For `--reset`. */
  clear(): Promise<void>
  close(): Promise<void>
}

export class LogLost extends Error {
  override readonly name = 'LogLost'
}
