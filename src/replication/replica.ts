import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringifyJson } from '../contract/json.js'
import type { EndedCommand, RequestCommand } from '../core/command.js'
import type { VerbCommand } from '../core/machine.js'
import type { Spaces } from '../core/spaces.js'
import { Failure } from '../domain/failures.js'
import type { Reply } from '../domain/messages.js'
import type { StoredState } from '../domain/state.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import { within } from '../system/cleanup-stack.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'
import { type CommandLog, type Entry, LogLost, LogUnavailable } from './command-log.js'
import {
  differences,
  type GroupFacts,
  type JoinResult,
  livingMembers,
  MEMBER_TIMEOUT_MS,
  type Member,
  type ReplicaView,
} from './group.js'
import { APPEND_TIMEOUT_MS, Outbox, OVERDUE } from './outbox.js'
import { HiddenKeys, withoutUnknownToken } from './secrets.js'
import { Timeline, type TimelineParts } from './timeline.js'

export interface ReplicaParts extends TimelineParts {
  readonly name: string
  readonly version: string
  openLog(): Promise<CommandLog>
  /** Values that are not configured come from the group, or are chosen now. */
  facts(group: GroupFacts | undefined, now: EpochMs): GroupFacts
  /** @throws Failure if a group cannot start with these facts */
  check(facts: GroupFacts, state?: StoredState): void
  readonly secretKeys: readonly string[]
  readonly reset: boolean
  warn(message: string): void
}

const HEARTBEAT_MS: DurationMs = SECOND_MS
/** A stop waits this long for the log, then again for a last checkpoint. */
const LEAVE_TIMEOUT_MS: DurationMs = 3 * SECOND_MS
const RETRY_MS: DurationMs = SECOND_MS
/** Attempts to read a log that is incomplete until another replica writes a checkpoint. */
const MAX_READINGS = 5
/** A checkpoint is due after this number of characters of entries, or its own length if larger. */
const MIN_CHARACTERS_BETWEEN = 8 * 1024 * 1024
const MAX_CONNECTIONS_PER_MEMBER = 2 ** 32

/**
 * One of several identical sandboxes. It appends commands to a shared log, and applies the commands that it reads
 * there.
 * @source docs/deploy.md, "Replicas"
 */
export class Replica {
  readonly #parts: ReplicaParts
  readonly #keys: HiddenKeys
  readonly #log: CommandLog
  readonly #outbox: Outbox
  /** Unique; changes with each join. */
  #id = ''
  #timeline: Timeline
  /** Called after entries, and when there will be no more. */
  #waiting: (() => void)[] = []
  /** Why there will be no more entries. */
  #failure: Error | undefined
  #address = ''
  /** Why it is not a member of its group now. */
  #notJoined: string | undefined = 'This replica has not joined its group yet.'
  #isLeaving = false
  #heartbeatTimer: NodeJS.Timeout | undefined
  /** Of the newest checkpoint, and of the entries since. */
  #checkpointCharacters = 0
  #charactersSince = 0

  private constructor(parts: ReplicaParts, log: CommandLog) {
    const keys = new HiddenKeys(parts.secretKeys)
    this.#parts = parts
    this.#keys = keys
    this.#log = log
    this.#outbox = new Outbox(
      log,
      (text) => keys.hide(text),
      (reason) => this.#lost(reason),
    )
    this.#timeline = new Timeline(parts)
  }

  /** Joins or founds a group. @throws Failure LOG_UNAVAILABLE, LOG_VERSION, GROUP_DIFFERS */
  static async join(parts: ReplicaParts): Promise<Replica> {
    const log = await parts.openLog().catch(asFailure)
    const replica = new Replica(parts, log)
    try {
      await replica.#join(parts.reset)
      return replica
    } catch (error) {
      replica.#outbox.close()
      await log.close()
      return asFailure(error)
    }
  }

  get spaces(): Spaces {
    const { machine } = this.#timeline
    if (machine === undefined) throw new LogUnavailable('The group has not started yet.')
    return machine.spaces
  }

  get isApplyingOwn(): boolean {
    return this.#timeline.isApplyingOwn
  }

  get facts(): GroupFacts {
    const { facts } = this.#timeline.group
    if (facts === undefined) throw new Error('The group has no facts yet.')
    return facts
  }

  /** Why requests cannot be served now; undefined if they can. */
  get unavailableReason(): string | undefined {
    return this.#notJoined ?? this.#log.unavailable
  }

  get lagMs(): number {
    return this.#outbox.lagMs
  }

  get position(): number {
    return this.#timeline.position
  }

  members(now: EpochMs): readonly ReplicaView[] {
    const { group, position: ownPosition } = this.#timeline
    return livingMembers(group, now).map(([id, { name, address, version, position, lagMs, joinedAt }]) => {
      const isThis = id === this.#id
      const since = new Date(joinedAt).toISOString()
      return { name, address, version, position: isThis ? ownPosition : position, lagMs, since, isThis }
    })
  }

  listensAt(address: string): void {
    this.#address = address
    this.#heartbeat()
  }

  /** Resolves once the request was stored, read back and applied. @throws LogUnavailable */
  async request(command: Omit<RequestCommand, 'kind'>): Promise<Reply> {
    this.#assertAvailable()
    let known = withoutUnknownToken(command.request, this.spaces)
    if (known !== command.request) {
      // Another replica may have just added the key.
      await this.#catchUp()
      known = withoutUnknownToken(command.request, this.spaces)
    }
    const { delivered, position } = this.#timeline
    const connection = this.#groupConnection(known.connection)
    const request = { ...known, connection, deliveredUpTo: delivered.deliveredUpTo, sentUpTo: position }
    return (await this.#outbox.append({ kind: 'request', ...command, request })) as Reply
  }

  /** Distinct in the group; 0 stays 0. */
  #groupConnection(connection: number): number {
    const ordinal = this.#timeline.group.members[this.#id]?.ordinal ?? 0
    return connection === 0 ? 0 : ordinal * MAX_CONNECTIONS_PER_MEMBER + connection
  }

  /** Applies a verb in the whole group. @throws LogUnavailable; any error of the verb */
  async verb({ fetched, ...command }: VerbCommand): Promise<{ readonly output: unknown; readonly wall: EpochMs }> {
    this.#assertAvailable()
    // All replicas have the fixtures, so a reset does not send them.
    const isSeed = fetched === undefined || fetched === this.spaces.default.seed
    const item = isSeed ? command : { ...command, fetched }
    return (await this.#outbox.append(item)) as { output: unknown; wall: EpochMs }
  }

  ended({ exchanges, unread }: Omit<EndedCommand, 'kind'>): void {
    const ends = exchanges.map((ended) => ({ ...ended, connection: this.#groupConnection(ended.connection) }))
    this.#outbox.send({ kind: 'ended', exchanges: ends, unread })
  }

  /**
   * Reads a state that includes every change reported to any client before.
   * @param act called with the time of the log
   * @throws LogUnavailable
   */
  async read<T>(act: (now: EpochMs) => T): Promise<T> {
    return act(await this.#catchUp())
  }

  async leave(): Promise<void> {
    this.#isLeaving = true
    clearTimeout(this.#heartbeatTimer)
    const inTime = (work: Promise<unknown>) => within(LEAVE_TIMEOUT_MS, work).catch(() => false)
    // Optional: without a checkpoint, the next replica reads more of the log.
    if (this.unavailableReason === undefined) {
      const isOldest = this.#isOldest
      if ((await inTime(this.#outbox.append({ kind: 'leave' }))) && isOldest) await inTime(this.#saveCheckpoint())
    }
    this.#outbox.close()
    this.#fail(new LogUnavailable('The sandbox is stopping.'))
    await this.#log.close()
  }

  #assertAvailable(): void {
    const reason = this.unavailableReason
    if (reason !== undefined) throw new LogUnavailable(reason)
  }

  /** Waits until all entries now in the log are applied. @returns the time of the log. @throws LogUnavailable */
  async #catchUp(): Promise<EpochMs> {
    this.#assertAvailable()
    const { number, now } = await this.#log.end()
    if (!(await within(APPEND_TIMEOUT_MS, this.#reach(number)))) throw new LogUnavailable(OVERDUE)
    return Math.max(now, this.#timeline.now)
  }

  async #reach(number: number): Promise<void> {
    while (this.#timeline.place.number < number) {
      if (this.#failure !== undefined) throw this.#failure
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #fail(error: Error): void {
    this.#failure = error
    this.#wake()
  }

  async #join(reset: boolean): Promise<void> {
    const startedAt = systemClock.monotonic()
    for (;;) {
      this.#id = randomUUID()
      this.#outbox.restart(this.#id)
      const { now, number } = await this.#readAll(reset)
      const { group } = this.#timeline
      const known = group.facts
      const facts = this.#parts.facts(known, now)
      const differing = known === undefined ? [] : differences(facts, known)
      const isAnew = reset || differing.length > 0
      const living = isAnew ? livingMembers(group, now).map(([, member]) => member) : []
      if (living.length > 0) {
        // A killed replica still counts as alive for a moment.
        const isOverdue = systemClock.monotonic() - startedAt > MEMBER_TIMEOUT_MS + SECOND_MS
        if (isOverdue || living.some(({ seenAt }) => seenAt > now - HEARTBEAT_MS * 2))
          throw groupDiffers(differing, living, reset)
        await sleep(HEARTBEAT_MS)
        continue
      }
      const state = isAnew && !reset ? this.#stateToKeep() : undefined
      // Invalid facts must not get into the log.
      if (isAnew || known === undefined)
        this.#parts.check(facts, state === undefined ? undefined : this.#parts.readState(state))
      const { name, version } = this.#parts
      const anew = isAnew ? { anew: { after: number, ...(state !== undefined && { state }) } } : {}
      const join = { name, version, facts, ...anew }
      const result = (await this.#outbox.append({ kind: 'join', join })) as JoinResult
      if (result === 'refused') continue
      this.#notJoined = undefined
      if (result === 'founded') await this.#saveCheckpoint()
      if (isAnew && !reset && known !== undefined)
        this.#parts.warn(
          `The group continues with the options of this replica, because no other replica is running: ${differing.join('; ')}. Pets, orders and keys were kept.`,
        )
      return this.#heartbeat()
    }
  }

  /** Reads the log from its newest checkpoint to its end, and follows it. */
  async #readAll(reset: boolean): Promise<{ readonly now: EpochMs; readonly number: number }> {
    for (let reading = 1; ; reading++) {
      try {
        await this.#loadCheckpoint()
        void this.#follow(this.#timeline)
        const end = await this.#log.end()
        await this.#reach(end.number)
        return end
      } catch (error) {
        const isUnusable = error instanceof LogLost || error instanceof RangeError
        if (!isUnusable) throw error
        const { now, writtenAt } = await this.#log.end()
        if (reset && now - writtenAt > MEMBER_TIMEOUT_MS) await this.#log.clear()
        else if (error instanceof RangeError) throw new Failure('LOG_VERSION', unreadable(error.message))
        else if (reading >= MAX_READINGS) throw new LogLost(unreadable(error.message))
        else await sleep(RETRY_MS)
      }
    }
  }

  async #loadCheckpoint(): Promise<void> {
    const checkpoint = await this.#log.loadCheckpoint()
    const text = checkpoint && this.#keys.show(checkpoint.text)
    this.#timeline = new Timeline(this.#parts, checkpoint && { ...checkpoint, text: text ?? '' })
    this.#checkpointCharacters = text?.length ?? 0
    this.#charactersSince = 0
    this.#failure = undefined
  }

  async #follow(timeline: Timeline): Promise<void> {
    const isOver = () => this.#timeline !== timeline
    try {
      while (!isOver()) {
        const entries = await this.#log.read(timeline.place)
        if (isOver()) return
        for (const entry of entries) this.#apply(entry)
        this.#wake()
        if (this.#charactersSince >= Math.max(MIN_CHARACTERS_BETWEEN, this.#checkpointCharacters))
          this.#considerCheckpoint()
      }
    } catch (error) {
      // Closed.
      if (isOver() || error instanceof LogUnavailable) return
      this.#fail(new LogLost(messageOf(error)))
      this.#lost(messageOf(error))
    }
  }

  #apply(entry: Entry): void {
    const isOwn = entry.replica === this.#id
    const outcomes = this.#timeline.apply(entry, this.#keys.show(entry.text), isOwn)
    this.#charactersSince += entry.text.length
    if (!isOwn) return
    this.#outbox.settle(entry.batch, outcomes)
    if (this.#timeline.group.members[this.#id] === undefined)
      this.#lost('this replica sent no heartbeat for too long, and was removed from the group')
  }

  get #isOldest(): boolean {
    const { group, now } = this.#timeline
    return livingMembers(group, now)[0]?.[0] === this.#id
  }

  #considerCheckpoint(): void {
    if (this.#isOldest && this.unavailableReason === undefined) void this.#saveCheckpoint()
  }

  async #saveCheckpoint(): Promise<void> {
    const { place, group, now } = this.#timeline
    const text = this.#keys.hide(this.#timeline.save())
    this.#checkpointCharacters = text.length
    this.#charactersSince = 0
    try {
      const applied = livingMembers(group, now).map(([, member]) => member.applied)
      await this.#log.saveCheckpoint({ place, text }, Math.min(place.number, ...applied))
    } catch (error) {
      if (!this.#isLeaving) this.#parts.warn(`Failed to write a checkpoint: ${messageOf(error)}`)
    }
  }

  #heartbeat(): void {
    clearTimeout(this.#heartbeatTimer)
    if (this.#isLeaving) return
    const { place, position } = this.#timeline
    if (this.unavailableReason === undefined) {
      const facts = { address: this.#address, applied: place.number, position, lagMs: Math.round(this.lagMs) }
      this.#outbox.send({ kind: 'heartbeat', heartbeat: facts })
      void this.#replaceLostCheckpoint()
    }
    this.#heartbeatTimer = setTimeout(() => this.#heartbeat(), HEARTBEAT_MS).unref()
  }

  /** Someone may have removed the checkpoint, or replaced it by another value. */
  async #replaceLostCheckpoint(): Promise<void> {
    if (!this.#isOldest) return
    const end = await this.#log.end().catch(() => undefined)
    if (end?.hasCheckpoint === false) this.#considerCheckpoint()
  }

  /** @returns the records and keys of a group with other facts, if they fit this replica */
  #stateToKeep(): string | undefined {
    const { machine } = this.#timeline
    if (machine === undefined) return undefined
    const text = stringifyJson(machine.spaces.default.state())
    try {
      this.#parts.readState(text)
      return text
    } catch (error) {
      this.#parts.warn(
        `Pets, orders and keys of the group were dropped, because they do not fit the contract: ${messageOf(error)}`,
      )
      return undefined
    }
  }

  #lost(reason: string): void {
    if (this.#isLeaving || this.#notJoined !== undefined) return
    this.#parts.warn(`Rejoining the group from the newest checkpoint of its log: ${reason}.`)
    this.#notJoined = `This replica is rejoining its group: ${reason}.`
    void this.#rejoin(this.#timeline)
  }

  async #rejoin(before: Timeline): Promise<void> {
    const error = new LogUnavailable(this.#notJoined ?? '')
    this.#outbox.failAll(error)
    this.#fail(error)
    while (!this.#isLeaving) {
      try {
        await this.#join(false)
        break
      } catch (failure) {
        const message = messageOf(failure)
        if (message !== this.#notJoined && !(failure instanceof LogUnavailable)) this.#parts.warn(message)
        this.#notJoined = message
        await sleep(RETRY_MS)
      }
    }
    before.close()
  }
}

/** @throws Failure */
function asFailure(error: unknown): never {
  const isOfLog = error instanceof LogUnavailable || error instanceof LogLost
  throw isOfLog ? new Failure('LOG_UNAVAILABLE', error.message) : error
}

function unreadable(what: string): string {
  return `The data of the group cannot be read: ${what}. Choose another --group, start the release that wrote it, or stop all replicas and restart the group with --reset, which deletes its data.`
}

function groupDiffers(differing: readonly string[], living: readonly Member[], reset: boolean): Failure {
  const others = living.map(({ name, address }) => (address === '' ? name : `${name} (${address})`)).join(', ')
  const why = reset
    ? `The group cannot be restarted (--reset) while other replicas are running: ${others}.`
    : `The options of this replica differ from its group (running: ${others}): ${differing.join('; ')}.`
  return new Failure('GROUP_DIFFERS', `${why} Stop them first, start with the same options, or choose another --group.`)
}
