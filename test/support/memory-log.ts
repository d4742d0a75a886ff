import type { EpochMs } from '../../src/domain/time.js'
import {
  Availability,
  type CommandLog,
  compareIds,
  type Entry,
  type EntryId,
  type LogFollower,
  LogLost,
  LogUnavailable,
  type LogWatcher,
  type StoredCheckpoint,
} from '../../src/replication/command-log.js'

type Appended = Pick<Entry, 'replica' | 'batch' | 'text'>

interface PendingEntry {
  readonly appended: Appended
  resolve(id: EntryId): void
  reject(error: unknown): void
}

/** A log in memory for replicas of one process, with simulated failures. */
export class MemoryLog {
  readonly #wall: () => EpochMs
  entries: Entry[] = []
  /** Id of the last trimmed entry. */
  beginsAfter: EntryId | undefined
  checkpoint: StoredCheckpoint | undefined
  /** The highest batch of each replica, and its entry, unless abandoned. */
  readonly batches = new Map<string, { readonly batch: number; readonly id: EntryId | undefined }>()
  readonly lines = new Set<MemoryLine>()
  /** Of the last id; ids never go back. */
  #ms = 0
  #ordinal = 0

  /** @param wall may go back; the time of the log never does */
  constructor(wall: () => EpochMs) {
    this.#wall = wall
  }

  open(watcher: LogWatcher): MemoryLine {
    const line = new MemoryLine(this, watcher)
    this.lines.add(line)
    return line
  }

  now(): EpochMs {
    return Math.max(this.#wall(), this.#ms)
  }

  take(appended: Appended): EntryId {
    const now = this.now()
    this.#ordinal = now === this.#ms ? this.#ordinal + 1 : 0
    this.#ms = now
    const id = `${now}-${this.#ordinal}`
    this.entries.push({ ...appended, id, now })
    this.batches.set(appended.replica, { batch: appended.batch, id })
    this.#wake()
    return id
  }

  /** Loses its last entries, as a failover does. */
  loseEnd(count: number): void {
    for (const { replica, batch } of this.entries.splice(this.entries.length - count)) {
      const former = this.entries.findLast((entry) => entry.replica === replica)
      if (former === undefined) this.batches.delete(replica)
      else if (former.batch < batch) this.batches.set(replica, { batch: former.batch, id: former.id })
    }
    this.#wake()
  }

  trim(place: number): void {
    if (place <= 0) return
    this.beginsAfter = this.entries[place - 1]?.id
    this.entries = this.entries.slice(place)
  }

  clear(): void {
    this.entries = []
    this.beginsAfter = undefined
    this.checkpoint = undefined
    this.batches.clear()
    this.#wake()
  }

  cutOff(): void {
    for (const line of this.lines) line.cutOff('the log is unavailable')
  }

  #wake(): void {
    for (const line of this.lines) line.look()
  }
}

/** A replica's connection to the log, which can be cut. */
export class MemoryLine implements CommandLog {
  readonly #log: MemoryLog
  readonly #availability: Availability
  readonly #part: LogWatcher
  /** Each reads what is new. */
  readonly #readers = new Set<() => void>()
  readonly #acknowledged = new Map<string, number>()
  #checkpointReleased = Promise.resolve()
  readonly #pending: PendingEntry[] = []
  /** Number of entries that still pass. */
  #passing = Number.POSITIVE_INFINITY
  #reason: string | undefined
  #isClosed = false
  #isReadingCut = false
  #losesResponse = false

  constructor(log: MemoryLog, watcher: LogWatcher) {
    this.#log = log
    this.#availability = new Availability(watcher)
    this.#part = this.#availability.part()
  }

  cutOff(reason = 'the line is cut'): void {
    this.#reason = reason
    this.#part.unavailable(reason)
  }

  /** Appends the next entry and the pending ones after it, but cuts the connection before the response. */
  cutBeforeResponse(): void {
    this.#losesResponse = true
  }

  /** Holds back further entries until restored. */
  hold(passing = 0): void {
    this.#passing = passing
    this.#deliver()
  }

  /** Holds checkpoints back for good. */
  holdCheckpoints(): void {
    this.#checkpointReleased = new Promise(() => {})
  }

  get pendingCount(): number {
    return this.#pending.length
  }

  /** Cuts only the connection that reads. */
  cutOffReading(): void {
    this.#isReadingCut = true
  }

  restore(): void {
    if (this.#isClosed) return
    this.#isReadingCut = false
    this.#reason = undefined
    this.#passing = Number.POSITIVE_INFINITY
    this.#losesResponse = false
    this.#part.available()
    this.#deliver()
    this.look()
  }

  append(appended: Appended, signal: AbortSignal): Promise<EntryId> {
    let abandon = () => {}
    const done = new Promise<EntryId>((resolve, reject) => {
      const one: PendingEntry = { appended, resolve, reject }
      abandon = () => {
        const place = this.#pending.indexOf(one)
        if (place !== -1) this.#pending.splice(place, 1)
        reject(this.#unavailable())
      }
      this.#pending.push(one)
      if (signal.aborted || this.#isClosed) abandon()
      else this.#deliver()
    })
    signal.addEventListener('abort', abandon)
    return done.finally(() => signal.removeEventListener('abort', abandon))
  }

  follow(after: EntryId | undefined, follower: LogFollower): () => void {
    let last = after
    const read = () => {
      // It may have been stopped since.
      if (!this.#readers.has(read)) return
      const { entries, beginsAfter } = this.#log
      const place = entries.findLastIndex(({ id }) => id === last)
      if (place < 0 && (last ?? beginsAfter) !== undefined) {
        this.#readers.delete(read)
        return void follower.lost('the entry read last is missing')
      }
      const next = entries.slice(place + 1)
      last = next.at(-1)?.id ?? last
      if (next.length > 0) follower.entries(next)
    }
    this.#readers.add(read)
    this.look()
    return () => void this.#readers.delete(read)
  }

  async end(): Promise<{ readonly id: EntryId | undefined; readonly now: EpochMs }> {
    this.#reach()
    return { id: this.#log.entries.at(-1)?.id, now: this.#log.now() }
  }

  async loadCheckpoint(): Promise<StoredCheckpoint | undefined> {
    this.#reach()
    return this.#log.checkpoint
  }

  async saveCheckpoint(checkpoint: StoredCheckpoint, trimUpTo: EntryId): Promise<void> {
    this.#reach()
    const pieces: string[] = []
    for (const piece of checkpoint.pieces) {
      pieces.push(piece)
      await new Promise(setImmediate)
    }
    await this.#checkpointReleased
    this.#reach()
    const { entries, checkpoint: former } = this.#log
    if (former !== undefined && compareIds(checkpoint.id, former.id) <= 0) return
    const place = entries.findIndex(({ id }) => id === checkpoint.id)
    if (place < 0) throw new LogLost('the entry of the checkpoint is missing')
    this.#log.checkpoint = { id: checkpoint.id, pieces }
    this.#log.trim(entries.findLastIndex(({ id }, index) => index <= place && compareIds(id, trimUpTo) <= 0))
  }

  async clear(): Promise<void> {
    this.#reach()
    this.#log.clear()
  }

  async close(): Promise<void> {
    this.#availability.end()
    this.#isClosed = true
    this.#reason = 'The log has been closed.'
    this.#readers.clear()
    for (const { reject } of this.#pending.splice(0)) reject(this.#unavailable())
    this.#log.lines.delete(this)
  }

  /** Wakes readers asynchronously. */
  look(): void {
    for (const read of this.#readers) queueMicrotask(() => this.#reason === undefined && !this.#isReadingCut && read())
  }

  #deliver(): void {
    while (this.#reason === undefined && this.#passing > 0) {
      const [first] = this.#pending
      if (first === undefined) return
      this.#passing--
      try {
        const id = this.#take(first.appended)
        if (this.#losesResponse) {
          for (const { appended } of this.#pending.slice(1, 1 + this.#passing)) this.#take(appended)
          this.#losesResponse = false
          this.cutOff()
          return
        }
        this.#acknowledged.set(first.appended.replica, first.appended.batch)
        first.resolve(id)
      } catch (error) {
        first.reject(error)
      }
      this.#pending.shift()
    }
  }

  #take(appended: Appended): EntryId {
    const { replica, batch } = appended
    const kept = this.#log.batches.get(replica)
    const acknowledged = this.#acknowledged.get(replica) ?? 0
    if ((kept?.batch ?? 0) < acknowledged) throw new LogLost('it no longer has the entries of this replica')
    const own = this.#log.entries.findLast((entry) => entry.replica === replica && entry.batch === batch)
    if (own !== undefined && batch >= acknowledged) return own.id
    if (kept !== undefined && kept.batch >= batch) throw new LogLost(`batch ${batch} was abandoned`)
    return this.#log.take(appended)
  }

  #reach(): void {
    if (this.#reason !== undefined) throw this.#unavailable()
  }

  #unavailable(): LogUnavailable {
    return new LogUnavailable(this.#reason ?? 'The log did not respond in time.')
  }
}
