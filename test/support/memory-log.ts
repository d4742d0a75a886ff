import type { EpochMs } from '../../src/domain/time.js'
import {
  type Checkpoint,
  type CommandLog,
  type Entry,
  type LogEnd,
  LogLost,
  LogUnavailable,
  type NewEntry,
  type Place,
} from '../../src/replication/command-log.js'

/** A log in memory for replicas of one process, with simulated failures. */
export class MemoryLog {
  readonly #wall: () => EpochMs
  entries: Entry[] = []
  checkpoint: Checkpoint | undefined
  readonly lines = new Set<MemoryLine>()

  /** @param wall may go back; the time of the log never does */
  constructor(wall: () => EpochMs) {
    this.#wall = wall
  }

  open(): MemoryLine {
    const line = new MemoryLine(this)
    this.lines.add(line)
    return line
  }

  now(): EpochMs {
    return Math.max(this.#wall(), this.entries.at(-1)?.now ?? 0)
  }

  take(entry: NewEntry): void {
    this.entries.push({ ...entry, number: (this.entries.at(-1)?.number ?? 0) + 1, now: this.now() })
    this.#wake()
  }

  /** Loses its last entries, as a failover does. */
  loseEnd(count: number): void {
    this.entries.splice(this.entries.length - count)
    this.#wake()
  }

  lastBatch(replica: string): number {
    return this.entries.findLast((entry) => entry.replica === replica)?.batch ?? 0
  }

  cutOff(): void {
    for (const line of this.lines) line.cutOff('the log is unavailable')
  }

  #wake(): void {
    for (const line of this.lines) line.wake()
  }
}

/** A replica's connection to the log, which can be cut. */
export class MemoryLine implements CommandLog {
  readonly #log: MemoryLog
  #waiting: (() => void)[] = []
  #reason: string | undefined
  #isClosed = false
  #isHeld = false
  #isReadingCut = false
  #losesResponse = false
  #checkpointReleased = Promise.resolve()

  constructor(log: MemoryLog) {
    this.#log = log
  }

  get unavailable(): string | undefined {
    return this.#reason
  }

  cutOff(reason = 'the line is cut'): void {
    if (!this.#isClosed) this.#reason = reason
  }

  /** Stores the next entry, but cuts the connection before the response. */
  cutBeforeResponse(): void {
    this.#losesResponse = true
  }

  /** Holds back further entries until restored. */
  hold(): void {
    this.#isHeld = true
  }

  /** Holds checkpoints back for good. */
  holdCheckpoints(): void {
    this.#checkpointReleased = new Promise(() => {})
  }

  /** Cuts only the connection that reads. */
  cutOffReading(): void {
    this.#isReadingCut = true
  }

  restore(): void {
    if (this.#isClosed) return
    this.#reason = undefined
    this.#isHeld = false
    this.#isReadingCut = false
    this.#losesResponse = false
    this.wake()
  }

  wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async append(entry: NewEntry, stored: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#until(() => this.#reason === undefined && !this.#isHeld, signal)
      const kept = this.#log.lastBatch(entry.replica)
      if (kept < stored) throw new LogLost('it no longer has the entries of this replica')
      if (kept < entry.batch) this.#log.take(entry)
      if (!this.#losesResponse) return
      this.#losesResponse = false
      this.cutOff()
    }
  }

  async read({ number, replica, batch }: Place): Promise<readonly Entry[]> {
    const last = () => this.#log.entries.at(-1)?.number ?? 0
    await this.#until(() => this.#reason === undefined && !this.#isReadingCut && last() !== number)
    const { entries } = this.#log
    const place = entries.findIndex((entry) => entry.number === number)
    const before = entries[place]
    if (number > 0 && (before?.replica !== replica || before.batch !== batch))
      throw new LogLost(`entry ${number} is missing`)
    const next = entries.slice(place + 1)
    if (next[0]?.number !== number + 1) throw new LogLost(`the entries after ${number} are missing`)
    return next
  }

  async end(): Promise<LogEnd> {
    this.#reach()
    const { number = 0, now: writtenAt = 0 } = this.#log.entries.at(-1) ?? {}
    return { number, writtenAt, now: this.#log.now(), hasCheckpoint: this.#log.checkpoint !== undefined }
  }

  async loadCheckpoint(): Promise<Checkpoint | undefined> {
    this.#reach()
    return this.#log.checkpoint
  }

  async saveCheckpoint(checkpoint: Checkpoint, keepFrom: number): Promise<void> {
    this.#reach()
    await this.#checkpointReleased
    const { entries, checkpoint: former } = this.#log
    const { number, replica, batch } = checkpoint.place
    if (former !== undefined && former.place.number > number) return
    if (!entries.some((entry) => entry.number === number && entry.replica === replica && entry.batch === batch))
      throw new LogLost(`entry ${number} is missing`)
    this.#log.checkpoint = checkpoint
    this.#log.entries = entries.filter((entry) => entry.number >= keepFrom)
  }

  async clear(): Promise<void> {
    this.#reach()
    this.#log.entries = []
    this.#log.checkpoint = undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#reason = 'The log has been closed.'
    this.#log.lines.delete(this)
    this.wake()
  }

  async #until(holds: () => boolean, signal?: AbortSignal): Promise<void> {
    const wake = () => this.wake()
    signal?.addEventListener('abort', wake)
    // Asynchronous even if it holds, as over a socket.
    await null
    while (!holds() && !this.#isClosed && !signal?.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    signal?.removeEventListener('abort', wake)
    if (!holds()) this.#reach()
    if (!holds()) throw new LogUnavailable('The log did not respond in time.')
  }

  #reach(): void {
    if (this.#reason !== undefined) throw new LogUnavailable(this.#reason)
  }
}
