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
  readonly #lines = new Set<MemoryLine>()
  /** Of the last id; ids never go back. */
  #ms = 0
  #ordinal = 0

  /** @param wall may go back; the time of the log never does */
  constructor(wall: () => EpochMs) {
    this.#wall = wall
  }

  open(watcher: LogWatcher): MemoryLine {
    const line = new MemoryLine(this, watcher)
    this.#lines.add(line)
    return line
  }

  forget(line: MemoryLine): void {
    this.#lines.delete(line)
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

  /** Trims entries. */
  cutOffEntries(place: number): void {
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

  cutOff(reason = 'the log is unavailable'): void {
    for (const line of this.#lines) line.cutOff(reason)
  }

  restore(): void {
    for (const line of this.#lines) line.restore()
  }

  #wake(): void {
    for (const line of this.#lines) line.look()
  }
}

/** A replica's connection to the log, which can be cut. */
export class MemoryLine implements CommandLog {
  readonly #log: MemoryLog
  readonly #availability: Availability
  readonly #part: LogWatcher
  readonly #readers = new Set<Reader>()
  readonly #acknowledged = new Map<string, number>()
  #checkpointReleased = Promise.resolve()
  readonly #pendingCount: PendingEntry[] = []
  /** Number of entries that still pass. */
  #passing = Number.POSITIVE_INFINITY
  #reason: string | undefined
  #isClosed = false
  #isReadingCut = false
  /** Set: the response to the next append is lost, for this reason. */
  #losesResponse: string | undefined

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
  cutBeforeResponse(reason = 'the line is cut'): void {
    this.#losesResponse = reason
  }

  /** Holds back further entries until restored. */
  hold(passing = 0): void {
    this.#passing = passing
    this.#deliver()
  }

  /** Holds checkpoints back. @returns releases them */
  holdCheckpoints(): () => void {
    let pass = () => {}
    this.#checkpointReleased = new Promise((resolve) => {
      pass = resolve
    })
    return pass
  }

  get pendingCount(): number {
    return this.#pendingCount.length
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
    this.#losesResponse = undefined
    this.#part.available()
    this.#deliver()
    this.look()
  }

  append(appended: Appended, signal: AbortSignal): Promise<EntryId> {
    let abandon = () => {}
    const done = new Promise<EntryId>((resolve, reject) => {
      const one: PendingEntry = { appended, resolve, reject }
      abandon = () => {
        const place = this.#pendingCount.indexOf(one)
        if (place !== -1) this.#pendingCount.splice(place, 1)
        reject(this.#unavailable())
      }
      this.#pendingCount.push(one)
      if (signal.aborted || this.#isClosed) abandon()
      else this.#deliver()
    })
    signal.addEventListener('abort', abandon)
    return done.finally(() => signal.removeEventListener('abort', abandon))
  }

  follow(after: EntryId | undefined, follower: LogFollower): () => void {
    const reader = new Reader(this.#log, after, follower)
    this.#readers.add(reader)
    this.look()
    return () => {
      reader.stop()
      this.#readers.delete(reader)
    }
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
    this.#log.cutOffEntries(entries.findLastIndex(({ id }, index) => index <= place && compareIds(id, trimUpTo) <= 0))
  }

  async clear(): Promise<void> {
    this.#reach()
    this.#log.clear()
  }

  async close(): Promise<void> {
    this.#availability.end()
    this.#isClosed = true
    this.#reason = 'The log has been closed.'
    for (const reader of this.#readers) reader.stop()
    for (const { reject } of this.#pendingCount.splice(0)) reject(this.#unavailable())
    this.#log.forget(this)
  }

  /** Wakes readers asynchronously. */
  look(): void {
    for (const reader of this.#readers)
      queueMicrotask(() => this.#reason === undefined && !this.#isReadingCut && reader.look())
  }

  #deliver(): void {
    while (this.#reason === undefined && this.#passing > 0) {
      const [first] = this.#pendingCount
      if (first === undefined) return
      this.#passing--
      try {
        const id = this.#take(first.appended)
        if (this.#losesResponse !== undefined) {
          this.#loseResponses(this.#losesResponse)
          return
        }
        this.#acknowledged.set(first.appended.replica, first.appended.batch)
        first.resolve(id)
      } catch (error) {
        first.reject(error)
      }
      this.#pendingCount.shift()
    }
  }

  #loseResponses(reason: string): void {
    for (const { appended } of this.#pendingCount.slice(1, 1 + this.#passing)) this.#take(appended)
    this.#losesResponse = undefined
    this.cutOff(reason)
  }

  #take(appended: Appended): EntryId {
    const { replica, batch } = appended
    const kept = this.#log.batches.get(replica)
    if ((kept?.batch ?? 0) < (this.#acknowledged.get(replica) ?? 0)) {
      throw new LogLost('it no longer has the entries of this replica')
    }
    const isAcknowledged = batch < (this.#acknowledged.get(replica) ?? 0)
    const own = this.#log.entries.findLast((entry) => entry.replica === replica && entry.batch === batch)
    if (own !== undefined && !isAcknowledged) return own.id
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

class Reader {
  readonly #log: MemoryLog
  readonly #follower: LogFollower
  #last: EntryId | undefined
  #isOver = false

  constructor(log: MemoryLog, after: EntryId | undefined, follower: LogFollower) {
    this.#log = log
    this.#last = after
    this.#follower = follower
  }

  look(): void {
    if (this.#isOver) return
    const { entries, beginsAfter } = this.#log
    const place = entries.findLastIndex(({ id }) => id === this.#last)
    if (place < 0 && (this.#last ?? beginsAfter) !== undefined) {
      this.#isOver = true
      return void this.#follower.lost('the entry read last is missing')
    }
    const next = entries.slice(place + 1)
    this.#last = next.at(-1)?.id ?? this.#last
    if (next.length > 0) this.#follower.entries(next)
  }

  stop(): void {
    this.#isOver = true
  }
}
