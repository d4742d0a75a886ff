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

/** An entry whose place nobody knows yet. */
interface UnderWay {
  readonly appended: Appended
  resolve(id: EntryId): void
  reject(error: unknown): void
}

/** The double of a log: what replicas of one process share, and what can happen to it. */
export class MemoryLog {
  readonly #wall: () => EpochMs
  entries: Entry[] = []
  /** The one before the first entry, cut off; undefined where none is. */
  beginsAfter: EntryId | undefined
  checkpoint: StoredCheckpoint | undefined
  /** The highest batch of each replica, and its entry, unless it was given up. */
  readonly batches = new Map<string, { readonly batch: number; readonly id: EntryId | undefined }>()
  readonly #lines = new Set<MemoryLine>()
  /** Of the last id; ids never go back. */
  #ms = 0
  #ordinal = 0

  /** @param wall its clock, which may go back: what it says never does */
  constructor(wall: () => EpochMs) {
    this.#wall = wall
  }

  /** One replica's way to it. */
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

  /** Loses its last entries, and that they were appended, as a failover does. */
  loseEnd(count: number): void {
    for (const { replica, batch } of this.entries.splice(this.entries.length - count)) {
      const former = this.entries.findLast((entry) => entry.replica === replica)
      if (former === undefined) this.batches.delete(replica)
      else if (former.batch < batch) this.batches.set(replica, { batch: former.batch, id: former.id })
    }
    this.#wake()
  }

  /** Cuts off the entries before a place. */
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

  /** From now on nobody reaches it. */
  cutOff(reason = 'the log is away'): void {
    for (const line of this.#lines) line.cutOff(reason)
  }

  restore(): void {
    for (const line of this.#lines) line.restore()
  }

  #wake(): void {
    for (const line of this.#lines) line.look()
  }
}

/** One replica's way to a log in memory, which can be cut. */
export class MemoryLine implements CommandLog {
  readonly #log: MemoryLog
  readonly #availability: Availability
  readonly #part: LogWatcher
  readonly #readers = new Set<Reader>()
  readonly #standing = new Map<string, number>()
  /** What is to happen before a checkpoint is kept. */
  #checkpointMayPass = Promise.resolve()
  /** In the order in which they were handed in. */
  readonly #underWay: UnderWay[] = []
  /** So many more are let through. */
  #passing = Number.POSITIVE_INFINITY
  #reason: string | undefined
  #isClosed = false
  #isDeaf = false
  /** The answer of the next append is lost, for this reason. */
  #losesAnswer: string | undefined

  constructor(log: MemoryLog, watcher: LogWatcher) {
    this.#log = log
    this.#availability = new Availability(watcher)
    this.#part = this.#availability.part()
  }

  cutOff(reason = 'the line is cut'): void {
    this.#reason = reason
    this.#part.unavailable(reason)
  }

  /** The next entry is appended, and so are those under way behind it, but the line is cut before an answer comes. */
  cutOffInAnswer(reason = 'the line is cut'): void {
    this.#losesAnswer = reason
  }

  /** Holds back what is appended but for the next few, until it is restored. */
  hold(passing = 0): void {
    this.#passing = passing
    this.#deliver()
  }

  /** Every checkpoint takes long from now on. @returns ends that */
  holdCheckpoints(): () => void {
    let pass = () => {}
    this.#checkpointMayPass = new Promise((resolve) => {
      pass = resolve
    })
    return pass
  }

  /** How many entries are held back. */
  get underWay(): number {
    return this.#underWay.length
  }

  /** What is appended is taken, but nothing is told any more, as when only one of two connections is there. */
  cutOffReading(): void {
    this.#isDeaf = true
  }

  restore(): void {
    if (this.#isClosed) return
    this.#isDeaf = false
    this.#reason = undefined
    this.#passing = Number.POSITIVE_INFINITY
    this.#losesAnswer = undefined
    this.#part.available()
    this.#deliver()
    this.look()
  }

  append(appended: Appended, signal: AbortSignal): Promise<EntryId> {
    let giveUp = () => {}
    const done = new Promise<EntryId>((resolve, reject) => {
      const one: UnderWay = { appended, resolve, reject }
      giveUp = () => {
        const place = this.#underWay.indexOf(one)
        if (place !== -1) this.#underWay.splice(place, 1)
        reject(this.#unavailable())
      }
      this.#underWay.push(one)
      if (signal.aborted || this.#isClosed) giveUp()
      else this.#deliver()
    })
    signal.addEventListener('abort', giveUp)
    return done.finally(() => signal.removeEventListener('abort', giveUp))
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
    await this.#checkpointMayPass
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
    for (const { reject } of this.#underWay.splice(0)) reject(this.#unavailable())
    this.#log.forget(this)
  }

  /** Gives those who read what there is, later: who appends is not interrupted. */
  look(): void {
    for (const reader of this.#readers)
      queueMicrotask(() => this.#reason === undefined && !this.#isDeaf && reader.look())
  }

  #deliver(): void {
    while (this.#reason === undefined && this.#passing > 0) {
      const [first] = this.#underWay
      if (first === undefined) return
      this.#passing--
      try {
        const id = this.#take(first.appended)
        if (this.#losesAnswer !== undefined) {
          this.#loseAnswers(this.#losesAnswer)
          return
        }
        this.#standing.set(first.appended.replica, first.appended.batch)
        first.resolve(id)
      } catch (error) {
        first.reject(error)
      }
      this.#underWay.shift()
    }
  }

  #loseAnswers(reason: string): void {
    for (const { appended } of this.#underWay.slice(1, 1 + this.#passing)) this.#take(appended)
    this.#losesAnswer = undefined
    this.cutOff(reason)
  }

  #take(appended: Appended): EntryId {
    const { replica, batch } = appended
    const kept = this.#log.batches.get(replica)
    if ((kept?.batch ?? 0) < (this.#standing.get(replica) ?? 0)) {
      throw new LogLost('it no longer has the entries of this replica')
    }
    const isAnswered = batch < (this.#standing.get(replica) ?? 0)
    const own = this.#log.entries.findLast((entry) => entry.replica === replica && entry.batch === batch)
    if (own !== undefined && !isAnswered) return own.id
    if (kept !== undefined && kept.batch >= batch) throw new LogLost(`batch ${batch} was abandoned`)
    return this.#log.take(appended)
  }

  #reach(): void {
    if (this.#reason !== undefined) throw this.#unavailable()
  }

  #unavailable(): LogUnavailable {
    return new LogUnavailable(this.#reason ?? 'The log has not answered in time.')
  }
}

/** One reading of the log. */
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
    // Nearly always near the end.
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
