import { randomUUID } from 'node:crypto'
import { stringifyJson } from '../contract/json.js'
import { digestOfData } from '../core/checkpoint.js'
import type { EndedCommand, RequestCommand } from '../core/command.js'
import { type ApplyVerb, type Command, Machine, type VerbCommand } from '../core/machine.js'
import type { Spaces } from '../core/spaces.js'
import { Failure } from '../domain/failures.js'
import type { ExchangeRef, Reply } from '../domain/messages.js'
import type { SpaceState } from '../domain/state.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'
import { batchText, type Item, itemText, readBatch } from './batch-text.js'
import {
  type CommandLog,
  compareIds,
  type Entry,
  type EntryId,
  LogLost,
  LogUnavailable,
  type LogWatcher,
} from './command-log.js'
import {
  differences,
  type GroupFacts,
  type Hello,
  LIVING_MS,
  type Member,
  type ReplicaView,
  type Welcome,
} from './group.js'
import { HiddenKeys } from './hidden-keys.js'
import { Outbox, UNDER_WAY_MS } from './outbox.js'
import { checkpointPieces, goOnFrom } from './replica-checkpoint.js'
import { withoutStrangersToken } from './strangers-token.js'
import { closeLogs, type Heard, newTimeline, type Timeline } from './timeline.js'

/** How often a replica says that it is there, and how far it is. */
const BEAT_MS: DurationMs = SECOND_MS
/** How long a stop waits for the log to hear of it, and then for a last checkpoint. */
const LEAVE_MS: DurationMs = 3 * SECOND_MS
/** A checkpoint that is replaced while it is read, and the log cut, is read again, so often. */
const READINGS = 10
/** Between two attempts to come back to a log that has lost something. */
const REJOIN_MS: DurationMs = SECOND_MS
/** A checkpoint is written after so many characters of entries; or as many as it has itself, if that is more. */
const CHECKPOINT_AFTER = 8 * 1024 * 1024
/** Connections of each replica have numbers of their own. */
const CONNECTIONS_A_MEMBER = 2 ** 32

/** Opens the log that a group shares. Rejects with LogUnavailable. */
export type OpenLog = (watcher: LogWatcher) => Promise<CommandLog>

/** What a replica needs of the sandbox that it is one of. */
export interface ReplicaParts {
  readonly name: string
  readonly version: string
  readonly openLog: OpenLog
  /** Its own facts: what was not given is as in the group, or chosen now. */
  facts(group: GroupFacts | undefined, now: EpochMs): GroupFacts
  /** Spaces at their start, by a group's facts. @param state what was carried over, if anything was */
  build(facts: GroupFacts, at: EpochMs, state?: SpaceState): Spaces
  /** Whether a group can begin so. @throws Failure where its facts name what is not there */
  check(facts: GroupFacts, state?: SpaceState): void
  /** Reads a state that other facts have left behind, as far as it fits to ours. @throws Failure where it does not */
  readState(text: string): SpaceState
  readonly applyVerb: ApplyVerb
  /** Another replica was asked for a verb, and it was done. */
  onVerb(spaces: Spaces, command: VerbCommand, output: unknown, now: EpochMs): void
  /** Keys given at the start, in their order. */
  readonly secretKeys: readonly string[]
  /** Start the group anew. */
  readonly reset: boolean
  /** Takes note of what was sent, by any replica, and knows what of it was heard for certain. */
  openHeard(): Heard
  warn(message: string): void
}

/**
 * One of several sandboxes that are the same: it changes nothing by itself, but appends
 * what is to be done to a log that all of them read, and does what it reads there.
 *
 * @source docs/deploy.md, "Replicas"
 */
export class Replica {
  readonly #parts: ReplicaParts
  readonly #keys: HiddenKeys
  readonly #outbox: Outbox
  #log: CommandLog | undefined
  #id = ''
  #ordinal = 0
  #timeline: Timeline
  #address = ''
  /** Why it is no member of its group now. */
  #apart: string | undefined = 'It has not joined its group yet.'
  /** Why the log cannot be reached now. */
  #unreachable: string | undefined
  #isApplyingOwn = false
  #beatTimer: NodeJS.Timeout | undefined
  #unfollow: () => void = () => {}
  /** Who waits until an entry is applied. */
  #catchingUp: { readonly id: EntryId; readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  #welcome: ((welcome: Welcome) => void) | undefined
  #charactersSince = 0
  #checkpointSize = 0
  #isSaving = false
  #isLeaving = false

  private constructor(parts: ReplicaParts) {
    this.#parts = parts
    this.#keys = new HiddenKeys(parts.secretKeys)
    this.#outbox = new Outbox(this.#keys, {
      log: () => this.#log,
      away: () => this.away,
      lost: (reason) => this.#lost(reason),
    })
    this.#timeline = newTimeline(parts.openHeard)
  }

  /**
   * Joins its group, or founds it.
   *
   * @throws Failure LOG_UNAVAILABLE, LOG_VERSION, GROUP_DIFFERS
   */
  static async join(parts: ReplicaParts): Promise<Replica> {
    const replica = new Replica(parts)
    try {
      replica.#log = await parts.openLog({
        available: () => replica.#available(),
        unavailable: (reason) => replica.#unavailable(reason),
      })
      await replica.#join(parts.reset)
    } catch (error) {
      replica.#unfollow()
      await replica.#log?.close()
      if (error instanceof LogUnavailable || error instanceof LogLost)
        throw new Failure('LOG_UNAVAILABLE', error.message)
      throw error
    }
    return replica
  }

  // What it is.

  get spaces(): Spaces {
    return this.#machine.spaces
  }

  /** What is being done was asked of this replica, not of another one. */
  get isApplyingOwn(): boolean {
    return this.#isApplyingOwn
  }

  /** The facts of the group. */
  get facts(): GroupFacts {
    const { facts } = this.#timeline.group
    if (facts === undefined) throw new Error('The group has no facts yet.')
    return facts
  }

  /** Why nothing can be done; undefined while it can. */
  get away(): string | undefined {
    return this.#apart ?? this.#unreachable
  }

  /** How long its own entries take to come back, in milliseconds: more, while one is waited for. */
  get lagMs(): number {
    return this.#outbox.lagMs
  }

  /** How many commands it has applied. */
  get position(): number {
    return this.#timeline.position
  }

  /** The replicas of the group that are there, the oldest first. */
  members(now: EpochMs): readonly ReplicaView[] {
    const { group, position } = this.#timeline
    return group
      .living(now)
      .map(([id, member]) => (id === this.#id ? viewOf({ ...member, position }, true) : viewOf(member, false)))
  }

  // What it is asked.

  /** Where it listens, for the others to know. */
  listensAt(address: string): void {
    this.#address = address
    this.#beat()
  }

  /** Answers a request when it was appended, read back and applied. @throws LogUnavailable */
  async request(command: Omit<RequestCommand, 'kind'>): Promise<Reply> {
    this.#needLog()
    let known = withoutStrangersToken(command.request, this.spaces)
    if (known !== command.request) {
      // A key may have been added by another replica a moment ago.
      await this.#catchUp()
      known = withoutStrangersToken(command.request, this.spaces)
    }
    const connection = this.#connection(known.connection)
    const request = { ...known, connection, heardUpTo: this.#timeline.heard.upTo }
    return (await this.#outbox.append({ kind: 'request', ...command, request })) as Reply
  }

  /** What a connection of this replica is called among those of all. */
  #connection(connection: number): number {
    return connection === 0 ? 0 : this.#ordinal * CONNECTIONS_A_MEMBER + connection
  }

  /** Does a verb. @throws LogUnavailable; whatever the verb throws */
  async verb(command: VerbCommand): Promise<{ readonly output: unknown; readonly wall: EpochMs }> {
    this.#needLog()
    // Who resets with the fixtures that all have need not send them to everybody.
    const { fetched, ...rest } = command
    const isSeed = fetched === this.spaces.default.seed
    return (await this.#outbox.append(isSeed || fetched === undefined ? rest : { ...rest, fetched })) as {
      output: unknown
      wall: EpochMs
    }
  }

  /** Says what became of answers. Nobody waits for it. */
  ended({ exchanges, unread }: Omit<EndedCommand, 'kind'>): void {
    const ends = exchanges.map((ended) => ({ ...ended, connection: this.#connection(ended.connection) }))
    this.#outbox.tell({ kind: 'ended', exchanges: ends, unread })
  }

  /**
   * Reads what every change is in that anybody was told of before.
   *
   * @param act is given the time by the clock of the log
   * @throws LogUnavailable
   */
  async read<T>(act: (now: EpochMs) => T): Promise<T> {
    return act(await this.#catchUp())
  }

  /** Leaves the group: what is under way is finished, the others are told. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    clearTimeout(this.#beatTimer)
    if (this.away === undefined && (await within(LEAVE_MS, this.#outbox.append({ kind: 'bye' }))))
      // Whoever comes next can do without: it reads the log from the checkpoint before.
      await within(LEAVE_MS, this.#saveOnLeaving())
    this.#unfollow()
    this.#failAll(new LogUnavailable('The sandbox is stopping.'))
    await this.#log?.close()
  }

  #beat(): void {
    clearTimeout(this.#beatTimer)
    if (this.#isLeaving) return
    const { applied, position } = this.#timeline
    if (this.away === undefined && applied !== undefined) {
      const beat = { address: this.#address, applied, position, lagMs: Math.round(this.lagMs) }
      this.#outbox.tell({ kind: 'beat', beat })
    }
    this.#beatTimer = setTimeout(() => this.#beat(), BEAT_MS).unref()
  }

  // How it applies.

  #apply(entries: readonly Entry[]): void {
    for (const entry of entries) this.#applyEntry(entry)
    const { applied } = this.#timeline
    if (applied === undefined) return
    this.#catchingUp = this.#catchingUp.filter(({ id, resolve }) => {
      const isThere = compareIds(id, applied) <= 0
      if (isThere) resolve()
      return !isThere
    })
    this.#considerCheckpoint()
  }

  #applyEntry(entry: Entry): void {
    const timeline = this.#timeline
    const isOwn = entry.replica === this.#id
    const own = isOwn ? this.#outbox.take(entry.batch) : undefined
    const results: (() => void)[] = []
    const exchanges: ExchangeRef[] = []
    this.#charactersSince += entry.text.length
    for (const replica of timeline.group.fallenSilent(entry.now)) this.#abandon(timeline, replica, entry.now)
    this.#isApplyingOwn = isOwn
    try {
      const items = readBatch(this.#keys.show(entry.text))
      for (const [index, item] of items.entries()) {
        const { done, failed } = own?.items[index]?.waiting ?? NOBODY
        try {
          const result = this.#applyItem(timeline, item, entry)
          if (isOwn && item.kind === 'request') exchanges.push(...exchangeOf(result))
          results.push(() => done(result))
        } catch (error) {
          results.push(() => failed(error))
        }
      }
    } catch (error) {
      this.#parts.warn(`An entry of the log could not be read: ${messageOf(error)}`)
      // What is of another release is not to be left out, as those who know it have done what it says.
      if (error instanceof RangeError) this.#misses(timeline, messageOf(error))
      for (const { waiting } of own?.items ?? []) results.push(() => waiting?.failed(error))
    }
    this.#isApplyingOwn = false
    timeline.applied = entry.id
    timeline.now = entry.now
    if (own !== undefined) this.#outbox.cameBack(own, results, exchanges)
  }

  #applyItem(timeline: Timeline, item: Item, entry: Entry): unknown {
    const { group } = timeline
    switch (item.kind) {
      case 'hello': {
        let welcome: Welcome
        try {
          welcome = group.welcome(entry.replica, item.hello, entry.now, timeline.applied)
          if (welcome === 'founded') this.#found(timeline, item.hello, entry.now)
        } catch (error) {
          welcome = 'refused'
          this.#misses(timeline, `it was begun with what this release cannot begin with: ${messageOf(error)}`)
        }
        if (entry.replica === this.#id) this.#welcome?.(welcome)
        return undefined
      }
      case 'beat':
        group.hear(entry.replica, entry.now, item.beat)
        return undefined
      case 'bye':
        group.leave(entry.replica)
        this.#abandon(timeline, entry.replica, entry.now)
        return undefined
    }
    // What a replica says that the group has forgotten counts for nobody.
    if (group.hear(entry.replica, entry.now) === undefined) {
      if (entry.replica === this.#id) this.#lost('it was silent for too long, and was forgotten')
      throw new LogUnavailable('This replica is no member of its group any more.')
    }
    if (item.kind === 'ended')
      return this.#applyCommand(
        timeline,
        { ...item, exchanges: timeline.open.end(entry.replica, item.exchanges) },
        entry.now,
      )
    const result = this.#applyCommand(timeline, item, entry.now)
    if (item.kind === 'request')
      for (const exchange of exchangeOf(result)) timeline.open.began(entry.replica, exchange, entry.now)
    return result
  }

  /** From here on it does not know what the group holds. */
  #misses(timeline: Timeline, what: string): void {
    timeline.unread ??= what
    this.#lost(`this release does not understand it: ${what}`)
  }

  /** A replica is gone, and with it who could say what became of its answers. */
  #abandon(timeline: Timeline, replica: string, now: EpochMs): void {
    const exchanges = timeline.open.abandon(replica, now)
    if (exchanges.length > 0) this.#applyCommand(timeline, { kind: 'ended', exchanges }, now)
  }

  #applyCommand(timeline: Timeline, command: Command, now: EpochMs): unknown {
    const { machine } = timeline
    if (machine === undefined) return undefined
    const instant = { now, position: ++timeline.position }
    const result = machine.apply(command, instant)
    if (command.kind === 'ended') timeline.heard.sent(instant.position, systemClock.monotonic(), false)
    if (command.kind !== 'verb') return result
    if (!this.#isApplyingOwn) this.#parts.onVerb(machine.spaces, command, result, now)
    if (command.verb === 'reset' && command.fetched !== undefined) timeline.group.reseed(digestOfData(command.fetched))
    return { output: result, wall: now }
  }

  /** The group starts anew. Whoever holds other facts goes on as well as it can, and is no member of it. */
  #found(timeline: Timeline, { facts, anew }: Hello, now: EpochMs): void {
    timeline.position = 0
    timeline.open.clear()
    const state = anew?.state === undefined ? undefined : this.#parts.readState(anew.state)
    closeLogs(timeline.machine)
    timeline.machine = undefined
    timeline.machine = new Machine(this.#parts.build(facts, now, state), this.#parts.applyVerb)
    // What came before does not count any more.
    timeline.unread = undefined
  }

  // How it comes, and comes back.

  async #join(reset: boolean): Promise<void> {
    const log = this.#openedLog
    const begun = systemClock.monotonic()
    for (;;) {
      this.#id = randomUUID()
      this.#outbox.begin(this.#id)
      await this.#readOrForget(log, reset)
      const { now, id: after } = await log.end()
      const { group, unread } = this.#timeline
      if (unread !== undefined && !reset) throw ofAnotherRelease(unread)
      const known = unread === undefined ? group.facts : undefined
      const facts = this.#parts.facts(known, now)
      const differing = known === undefined ? [] : differences(facts, known)
      const isAnew = reset || differing.length > 0
      const living = isAnew ? group.living(now) : []
      if (living.length > 0) {
        if (
          systemClock.monotonic() - begun > LIVING_MS + SECOND_MS ||
          living.some(([, { seenAt }]) => seenAt > now - BEAT_MS * 2)
        )
          throw differs(differing, living, reset)
        // It may have been killed a moment ago.
        await passes(BEAT_MS)
        continue
      }
      const state = isAnew && !reset ? this.#carriedState() : undefined
      const anew = isAnew ? { after, ...(state === undefined ? {} : { state }) } : undefined
      // What cannot begin must not stand in the log. Once it has begun, keys come and go.
      if (isAnew || known === undefined)
        this.#parts.check(facts, state === undefined ? undefined : this.#parts.readState(state))
      const welcome = await this.#sayHello({
        name: this.#parts.name,
        version: this.#parts.version,
        facts,
        ...(anew && { anew }),
      })
      if (welcome === 'refused') continue
      this.#ordinal = this.#timeline.group.living(this.#timeline.now).find(([id]) => id === this.#id)?.[1].ordinal ?? 0
      if (welcome === 'founded') await this.#saveCheckpoint()
      if (isAnew && !reset && group.facts !== undefined)
        this.#parts.warn(
          `The group goes on with what is given here, as no other replica is alive: ${differing.join('; ')}. Pets, orders and keys were kept.`,
        )
      this.#apart = undefined
      this.#beat()
      return
    }
  }

  /** Reads the newest checkpoint, and what came since. @throws LogLost if that is not all there */
  async #readToEnd(log: CommandLog): Promise<void> {
    let lacks = ''
    for (let reading = 0; reading < READINGS; reading++) {
      this.#unfollow()
      const after = await this.#loadNewest(log)
      const { id } = await log.end()
      const isThere = await new Promise<boolean>((resolve, reject) => {
        this.#unfollow = log.follow(after, {
          entries: (entries) => this.#apply(entries),
          lost: (reason) => {
            // The checkpoint was replaced, and the log cut, while it was read; or somebody has removed a part of it.
            lacks = reason
            resolve(false)
            this.#welcome?.('refused')
            this.#lost(reason)
          },
        })
        if (id === undefined || (after !== undefined && compareIds(id, after) <= 0)) resolve(true)
        else this.#catchingUp.push({ id, resolve: () => resolve(true), reject })
      })
      if (isThere) return
    }
    throw new LogLost(
      `The log of the group is not whole: ${lacks}. If replicas of it still run, stop the oldest with \`control stop\`, which leaves a checkpoint; else start the group anew with --reset.`,
    )
  }

  /** By itself, so that nothing that lives as long as the replica holds on to the text. @returns the entry it stands for */
  async #loadNewest(log: CommandLog): Promise<EntryId | undefined> {
    const stored = await log.loadCheckpoint()
    const timeline = newTimeline(this.#parts.openHeard)
    const { build, applyVerb } = this.#parts
    const how = { keys: this.#keys, build, applyVerb, nextTurn: () => this.#nextTurn() }
    try {
      this.#checkpointSize = stored === undefined ? 0 : await goOnFrom(stored, timeline, how)
    } catch (error) {
      throw error instanceof RangeError ? ofAnotherRelease(messageOf(error)) : error
    }
    this.#charactersSince = 0
    this.#timeline = timeline
    return stored?.id
  }

  /** As `readToEnd`. One that is not whole is forgotten, if the group is to start anew, and nobody uses it. */
  async #readOrForget(log: CommandLog, reset: boolean): Promise<void> {
    try {
      await this.#readToEnd(log)
    } catch (error) {
      const { id, now } = await log.end()
      const isUsed = id !== undefined && now - Number.parseInt(id, 10) <= LIVING_MS
      if (!isUnusable(error) || !reset || isUsed) throw error
      await log.clear()
      await this.#readToEnd(log)
    }
  }

  async #sayHello(hello: Hello): Promise<Welcome> {
    const welcomed = new Promise<Welcome>((resolve) => {
      this.#welcome = resolve
    })
    const text = this.#keys.hide(itemText({ kind: 'hello', hello }))
    const giveUp = new AbortController()
    const timer = setTimeout(() => giveUp.abort(), UNDER_WAY_MS)
    try {
      await this.#openedLog.append(
        { replica: this.#id, batch: this.#outbox.nextBatch(), text: batchText([text]) },
        giveUp.signal,
      )
    } finally {
      clearTimeout(timer)
    }
    return welcomed
  }

  /** Pets, orders and keys as they were left by a group with other facts. */
  #carriedState(): string | undefined {
    const { machine } = this.#timeline
    if (machine === undefined) return undefined
    const text = stringifyJson(machine.spaces.default.state())
    try {
      this.#parts.readState(text)
      return text
    } catch (error) {
      this.#parts.warn(`Pets, orders and keys of the group cannot be kept, as they do not fit: ${messageOf(error)}`)
      return undefined
    }
  }

  /** What it had read is not in the log any more: whatever the log holds now is the truth. */
  #lost(reason: string): void {
    if (this.#isLeaving || this.#apart !== undefined) return
    this.#parts.warn(`The log is not the one that was read: ${reason}. Going on from its newest checkpoint.`)
    this.#apart = `The log has lost something: ${reason}.`
    void this.#rejoin(this.#apart)
  }

  async #rejoin(reason: string): Promise<void> {
    const before = this.#timeline.machine
    this.#unfollow()
    this.#failAll(new LogUnavailable(reason))
    while (!this.#isLeaving) {
      try {
        await this.#join(false)
        break
      } catch (error) {
        const message = messageOf(error)
        if (message !== this.#apart && !(error instanceof LogUnavailable)) this.#parts.warn(message)
        this.#apart = message
        await passes(REJOIN_MS)
      }
    }
    // Whoever follows what happened in the spaces that are gone has to begin again.
    if (before !== this.#timeline.machine) closeLogs(before)
  }

  #failAll(error: LogUnavailable): void {
    this.#outbox.failAll(error)
    for (const { reject } of this.#catchingUp.splice(0)) reject(error)
  }

  #available(): void {
    if (this.#unreachable === undefined) return
    this.#unreachable = undefined
    this.#parts.warn('The log can be reached again.')
    this.#beat()
    this.#outbox.flush()
  }

  #unavailable(reason: string): void {
    if (this.#isLeaving) return
    this.#unreachable = reason
    this.#parts.warn(`The log cannot be reached, so that requests are answered 503: ${reason}`)
    const error = new LogUnavailable(reason)
    this.#outbox.refuse(error)
    for (const { reject } of this.#catchingUp.splice(0)) reject(error)
  }

  // Reads and checkpoints.

  async #catchUp(): Promise<EpochMs> {
    this.#needLog()
    const { id, now } = await this.#openedLog.end()
    const { applied } = this.#timeline
    if (id !== undefined && (applied === undefined || compareIds(applied, id) < 0))
      await new Promise<void>((resolve, reject) => this.#catchingUp.push({ id, resolve, reject }))
    return Math.max(now, this.#timeline.now)
  }

  #needLog(): void {
    const { away } = this
    if (away !== undefined) throw new LogUnavailable(away)
  }

  get #openedLog(): CommandLog {
    if (this.#log === undefined) throw new LogUnavailable('The log is not open.')
    return this.#log
  }

  get #machine(): Machine {
    const { machine } = this.#timeline
    if (machine === undefined) throw new LogUnavailable('The group holds other facts than this replica.')
    return machine
  }

  /** The oldest replica writes the checkpoints. */
  #considerCheckpoint(): void {
    if (this.away !== undefined || this.#isSaving) return
    if (this.#charactersSince < Math.max(CHECKPOINT_AFTER, this.#checkpointSize)) return
    const [oldest] = this.#timeline.group.living(this.#timeline.now)
    if (oldest?.[0] === this.#id) void this.#saveCheckpoint()
  }

  /** The last one to leave, and the one that writes the checkpoints, leave one. */
  async #saveOnLeaving(): Promise<void> {
    const { group, now } = this.#timeline
    const [oldest] = group.living(now)
    if (oldest === undefined || oldest[1].ordinal > this.#ordinal) await this.#saveCheckpoint()
  }

  async #saveCheckpoint(): Promise<void> {
    const { applied, machine, group, now } = this.#timeline
    if (applied === undefined || machine === undefined) return
    this.#isSaving = true
    this.#charactersSince = 0
    const read = group.living(now).map(([, member]) => member.applied ?? '0-0')
    const trimUpTo = [...read, applied].reduce((a, b) => (compareIds(a, b) < 0 ? a : b))
    try {
      await this.#openedLog.saveCheckpoint(
        { id: applied, pieces: this.#counted(checkpointPieces(this.#timeline, machine, this.#keys)) },
        trimUpTo,
      )
    } catch (error) {
      if (!this.#isLeaving) this.#parts.warn(`A checkpoint could not be written: ${messageOf(error)}`)
    }
    this.#isSaving = false
  }

  *#counted(pieces: Iterable<string>): Generator<string, void> {
    this.#checkpointSize = 0
    for (const piece of pieces) {
      this.#checkpointSize += piece.length
      yield piece
    }
  }

  /** Lets others have their turn in the midst of what takes long. @throws LogUnavailable when it is to stop */
  async #nextTurn(): Promise<void> {
    await new Promise(setImmediate)
    if (this.#isLeaving) throw new LogUnavailable('The sandbox is stopping.')
  }
}

function ofAnotherRelease(what: string): Failure {
  return new Failure(
    'LOG_VERSION',
    `What the group holds was written by another release: ${what}. Start that release, choose another --group, or start the group anew with --reset, which forgets what it holds.`,
  )
}

/** Whether it says that nothing can be made of what the log holds. */
function isUnusable(error: unknown): boolean {
  return error instanceof LogLost || (error instanceof Failure && error.code === 'LOG_VERSION')
}

/** The exchange of a reply, if it has one. */
function exchangeOf(result: unknown): readonly ExchangeRef[] {
  const exchange = (result as Reply | undefined)?.exchange
  return exchange === undefined ? [] : [exchange]
}

const NOBODY = { done: () => {}, failed: () => {} }

function viewOf({ name, address, version, position, lagMs, joinedAt }: Member, isThis: boolean): ReplicaView {
  return { name, address, version, position, lagMs, since: new Date(joinedAt).toISOString(), isThis }
}

function differs(
  differing: readonly string[],
  living: readonly (readonly [string, Member])[],
  reset: boolean,
): Failure {
  const others = living.map(([, { name, address }]) => (address === '' ? name : `${name} (${address})`)).join(', ')
  const why = reset
    ? `The group cannot be started anew (--reset) while other replicas live: ${others}.`
    : `This replica would not give the answers of its group, in which ${others} live${living.length === 1 ? 's' : ''}: ${differing.join('; ')}.`
  return new Failure(
    'GROUP_DIFFERS',
    `${why} Stop ${living.length === 1 ? 'it' : 'them'} first, start with the same options, or choose another --group.`,
  )
}

/** @returns whether something was done in time, and well */
function within(duration: DurationMs, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), duration)
    work
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer))
  })
}

function passes(duration: DurationMs): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration))
}
