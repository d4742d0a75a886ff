import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Health } from '../control/routes.js'
import { checkInput, type Verb } from '../control/verb.js'
import type { VerbName } from '../control/verb-map.js'
import { VERBS } from '../control/verbs.js'
import type { ReplicaView } from '../control/views.js'
import { writeCheckpoint } from '../core/checkpoint.js'
import { unfitRecords } from '../core/collections.js'
import type { RequestCommand, VerbCommand } from '../core/command.js'
import { problem } from '../core/responses.js'
import type { Spaces } from '../core/spaces.js'
import { unloggedReply } from '../core/unlogged-reply.js'
import { Failure } from '../domain/failures.js'
import type { EndedExchange, ExchangeRef, Reply } from '../domain/messages.js'
import { type RedisAddress, readRedisAddress } from '../domain/redis-address.js'
import type { StoredState } from '../domain/state.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import type { CommandExecutor, SandboxDeps, SavedSandbox } from '../executor/executor.js'
import { DeliveryTracker as PendingDeliveries } from '../http/delivery-tracker.js'
import type { GroupLog } from '../options/resolve.js'
import { within } from '../system/cleanup-stack.js'
import { messageOf } from '../system/message-of.js'
import { packageVersion } from '../system/package-files.js'
import { systemClock } from '../system/system-clock.js'
import { type Checkpoint, type CommandLog, type Entry, LogLost, LogUnavailable } from './command-log.js'
import {
  differences,
  groupDiffers,
  type JoinResult,
  livingMembers,
  MEMBER_TIMEOUT_MS,
  unsavedChanges,
} from './group.js'
import { type GroupStart, readGroupStart } from './group-start.js'
import { APPEND_TIMEOUT_MS, Outbox, OVERDUE } from './outbox.js'
import { openRedisLog } from './redis-log.js'
import { HiddenKeys, withoutUnknownToken } from './secrets.js'
import { type BuildSpaces, type DeliveryTracker, Timeline } from './timeline.js'

/** For tests. */
export interface ReplicaOverrides {
  openLog?(): Promise<CommandLog>
  openDeliveryTracker?(): DeliveryTracker
}

/** Executes commands through the log of a group of replicas. @throws Failure LOG_UNAVAILABLE, LOG_VERSION, GROUP_DIFFERS */
export async function createReplicaExecutor(
  deps: SandboxDeps,
  { redis, group }: GroupLog,
  overrides: ReplicaOverrides = {},
): Promise<CommandExecutor> {
  const start = await readGroupStart(deps)
  const { openLog = () => openRedisLog({ address: addressOf(redis), group, warn: deps.warn }) } = overrides
  const log = await openLog().catch(asFailure)
  const replica = new Replica(deps, start, log, overrides.openDeliveryTracker)
  deps.opened.defer(() => replica.leave())
  await replica.join(deps.options.reset).catch(asFailure)
  return replica
}

const LOG_UNAVAILABLE = problem('log_unavailable', { headers: ['Retry-After', '1'], reason: 'unavailable' })

function addressOf(redis: string): RedisAddress {
  const address = readRedisAddress(redis)
  if ('problem' in address) throw new Failure('LOG_UNAVAILABLE', `--redis ${address.problem}.`)
  return address
}

const NAME = `${hostname()}-${process.pid}`
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
class Replica implements CommandExecutor {
  readonly #deps: SandboxDeps
  readonly #start: GroupStart
  readonly #openDeliveryTracker: () => DeliveryTracker
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
  /** Of the timeline before: they refuse requests while the new one has none yet. */
  #spacesBefore: Spaces | undefined
  /** Of the newest checkpoint, and of the entries since. */
  #checkpointCharacters = 0
  #charactersSince = 0

  constructor(
    deps: SandboxDeps,
    start: GroupStart,
    log: CommandLog,
    openDeliveryTracker: () => DeliveryTracker = () => new PendingDeliveries(),
  ) {
    const keys = new HiddenKeys(deps.options.apiKeys.map(({ key }) => key))
    this.#deps = deps
    this.#start = start
    this.#openDeliveryTracker = openDeliveryTracker
    this.#keys = keys
    this.#log = log
    this.#outbox = new Outbox(
      log,
      (text) => keys.hide(text),
      (reason) => this.#lost(reason),
    )
    this.#timeline = this.#openTimeline(undefined)
  }

  #openTimeline(checkpoint: Checkpoint | undefined): Timeline {
    const build: BuildSpaces = (facts, at, state) =>
      this.#start.build(facts, at, state, () => this.#timeline.isApplyingOwn)
    return new Timeline(build, this.#openDeliveryTracker(), checkpoint)
  }

  readonly target: CommandExecutor['target'] = {
    snapshotsOf: () => undefined,
    change: (command) => this.#change(command),
    // Includes every change reported to any client before.
    read: async (act) => act(await this.#catchUp()),
    replicas: (now) => this.#members(now),
  }

  get spaces(): Spaces {
    const spaces = this.#timeline.spaces ?? this.#spacesBefore
    if (spaces === undefined) throw new LogUnavailable('The group has not started yet.')
    return spaces
  }

  readSeed(): StoredState {
    return this.#start.seedOf(this.#timeline.group.facts?.seed ?? this.#deps.options.seed)()
  }

  /** Why requests cannot be served now; undefined if they can. */
  get #unavailable(): string | undefined {
    return this.#notJoined ?? this.#log.unavailable
  }

  health(): Health {
    const progress = { position: this.#timeline.position, lagMs: Math.round(this.#outbox.lagMs) }
    const reason = this.#unavailable
    return reason === undefined ? { status: 'healthy', ...progress } : { status: 'degraded', reason, ...progress }
  }

  async save(): Promise<SavedSandbox> {
    return { position: this.#timeline.position, spaces: writeCheckpoint(this.spaces) }
  }

  #members(now: EpochMs): readonly ReplicaView[] {
    const { group, position: ownPosition } = this.#timeline
    return livingMembers(group, now).map(([id, { name, address, version, position, lagMs, joinedAt }]) => {
      const isThis = id === this.#id
      const since = new Date(joinedAt).toISOString()
      return { name, address, version, position: isThis ? ownPosition : position, lagMs, since, isThis }
    })
  }

  async begin(address: string): Promise<void> {
    this.#address = address
    this.#heartbeat()
  }

  /** Resolves once the request was stored, read back and applied. */
  async answer(command: Omit<RequestCommand, 'kind'>): Promise<Reply> {
    try {
      return await this.#request(command)
    } catch (error) {
      if (error instanceof LogUnavailable)
        return unloggedReply(this.spaces, command.request, systemClock.wall(), LOG_UNAVAILABLE)
      throw error
    }
  }

  async #request(command: Omit<RequestCommand, 'kind'>): Promise<Reply> {
    this.#assertAvailable()
    let known = withoutUnknownToken(command.request, this.spaces)
    if (known.headers.authorization !== command.request.headers.authorization) {
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

  /** Applies a verb in the whole group, unless its key is unknown: it may be real, and must not get into the log. */
  async #change(command: VerbCommand): Promise<{ readonly output: unknown; readonly wall: EpochMs }> {
    this.#assertAvailable()
    const verb: Verb = VERBS[command.verb as VerbName]
    if (verb.hasUnknownKey !== undefined) {
      const input = checkInput(verb, command.input)
      const wall = await this.#catchUp()
      const { spaces } = this
      const space = spaces.get(command.space) ?? spaces.default
      if (verb.hasUnknownKey(space, input)) return { output: verb.run({ space, spaces, wall }, input), wall }
    }
    const { files, ...item } = command
    // All replicas have the fixtures, so a reset does not send them.
    const isSeed = files === undefined || files === this.spaces.default.seed
    return (await this.#outbox.append(isSeed ? item : command)) as { output: unknown; wall: EpochMs }
  }

  ended(exchanges: readonly EndedExchange[], unread?: readonly ExchangeRef[]): number {
    const ends = exchanges.map((ended) => ({ ...ended, connection: this.#groupConnection(ended.connection) }))
    this.#outbox.send({ kind: 'ended', exchanges: ends, unread })
    return 0
  }

  async leave(): Promise<void> {
    this.#isLeaving = true
    clearTimeout(this.#heartbeatTimer)
    const inTime = (work: Promise<unknown>) => within(LEAVE_TIMEOUT_MS, work).catch(() => false)
    // Optional: without a checkpoint, the next replica reads more of the log.
    if (this.#unavailable === undefined) {
      const isOldest = this.#isOldest
      if ((await inTime(this.#outbox.append({ kind: 'leave' }))) && isOldest) await inTime(this.#saveCheckpoint())
    }
    this.#outbox.close()
    this.#fail(new LogUnavailable('The sandbox is stopping.'))
    await this.#log.close()
  }

  #assertAvailable(): void {
    const reason = this.#unavailable
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

  /** Joins or founds a group. @throws Failure LOG_VERSION, GROUP_DIFFERS; LogUnavailable; LogLost */
  async join(reset: boolean): Promise<void> {
    const startedAt = systemClock.monotonic()
    for (;;) {
      this.#id = randomUUID()
      this.#outbox.restart(this.#id)
      const { now, number } = await this.#readAll(reset)
      const { group } = this.#timeline
      const known = group.facts
      const facts = this.#start.facts(known, now)
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
      const misread = isAnew && !reset && known && this.#timeline.hasUnsaved ? this.#start.misreadings(known) : []
      if (misread.length > 0) throw unsavedChanges(misread)
      const state = isAnew && !reset ? this.#stateToKeep() : undefined
      // Invalid facts must not get into the log.
      if (isAnew || known === undefined) this.#start.check(facts, state)
      const anew = isAnew ? { anew: { after: number, ...(state !== undefined && { state }) } } : {}
      const join = { name: NAME, version: packageVersion, facts, ...anew }
      const result = (await this.#outbox.append({ kind: 'join', join })) as JoinResult
      if (result === 'refused') continue
      this.#notJoined = undefined
      if (result === 'founded') await this.#saveCheckpoint()
      if (isAnew && !reset && known !== undefined)
        this.#deps.warn(
          `The group continues with the options of this replica, because no other replica is running: ${differing.join('; ')}. Records and keys were kept.`,
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
    this.#spacesBefore = this.#timeline.spaces ?? this.#spacesBefore
    this.#timeline = this.#openTimeline(checkpoint && { ...checkpoint, text: text ?? '' })
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
    if (this.#isOldest && this.#unavailable === undefined) void this.#saveCheckpoint()
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
      if (!this.#isLeaving) this.#deps.warn(`Failed to write a checkpoint: ${messageOf(error)}`)
    }
  }

  #heartbeat(): void {
    clearTimeout(this.#heartbeatTimer)
    if (this.#isLeaving) return
    const { place, position } = this.#timeline
    if (this.#unavailable === undefined) {
      const facts = { address: this.#address, applied: place.number, position, lagMs: Math.round(this.#outbox.lagMs) }
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
    const { spaces } = this.#timeline
    if (spaces === undefined) return undefined
    const text = this.#start.stateText(spaces.default.stored())
    try {
      const unfit = unfitRecords(this.#deps.contract, this.#start.readState(text))
      if (unfit !== undefined) this.#deps.warn(unfit)
      return text
    } catch (error) {
      this.#deps.warn(
        `Records and keys of the group were dropped, because they do not fit the contract: ${messageOf(error)}`,
      )
      return undefined
    }
  }

  #lost(reason: string): void {
    if (this.#isLeaving || this.#notJoined !== undefined) return
    this.#deps.warn(`Rejoining the group from the newest checkpoint of its log: ${reason}.`)
    this.#notJoined = `This replica is rejoining its group: ${reason}.`
    void this.#rejoin(this.#timeline)
  }

  async #rejoin(before: Timeline): Promise<void> {
    const error = new LogUnavailable(this.#notJoined ?? '')
    this.#outbox.failAll(error)
    this.#fail(error)
    while (!this.#isLeaving) {
      try {
        await this.join(false)
        break
      } catch (failure) {
        const message = messageOf(failure)
        if (message !== this.#notJoined && !(failure instanceof LogUnavailable)) this.#deps.warn(message)
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
