import { setTimeout as sleep } from 'node:timers/promises'
import type { EndedCommand, RequestCommand } from '../core/command.js'
import type { VerbCommand } from '../core/machine.js'
import type { Spaces } from '../core/spaces.js'
import { Failure } from '../domain/failures.js'
import type { Reply } from '../domain/messages.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import { within } from '../system/cleanup-stack.js'
import { messageOf } from '../system/message-of.js'
import { LogLost, LogUnavailable } from './command-log.js'
import type { GroupFacts, ReplicaView } from './group.js'
import { HEARTBEAT_MS, joinGroup } from './join-group.js'
import { Outbox } from './outbox.js'
import { saveCheckpoint } from './replica-checkpoint.js'
import {
  assertAvailable,
  catchUp,
  closeLogs,
  failCatchUps,
  newTimeline,
  type ReplicaContext,
  type ReplicaParts,
  requireMachine,
} from './replica-context.js'
import { HiddenKeys, withoutUnknownToken } from './secrets.js'

/** A stop waits this long for the log, then again for a last checkpoint. */
const LEAVE_TIMEOUT_MS: DurationMs = 3 * SECOND_MS
const REJOIN_INTERVAL_MS: DurationMs = SECOND_MS
const MAX_CONNECTIONS_PER_MEMBER = 2 ** 32

/**
 * One of several identical sandboxes. It appends commands to a shared log, and applies the commands that it reads
 * there.
 * @source docs/deploy.md, "Replicas"
 */
export class Replica {
  readonly #context: ReplicaContext
  #address = ''
  /** Why it is not a member of its group now. */
  #notJoined: string | undefined = 'This replica has not joined its group yet.'
  #unreachableReason: string | undefined
  #heartbeatTimer: NodeJS.Timeout | undefined

  private constructor(parts: ReplicaParts) {
    const keys = new HiddenKeys(parts.secretKeys)
    const lost = (reason: string) => this.#lost(reason)
    const unavailable = () => this.unavailableReason
    this.#context = {
      parts,
      keys,
      outbox: new Outbox(keys, { log: () => this.#context.log, unavailable, lost }),
      log: undefined,
      id: '',
      ordinal: 0,
      timeline: newTimeline(parts.openDeliveryTracker),
      isLeaving: false,
      isApplyingOwn: false,
      catchUps: [],
      unfollow: () => {},
      onJoinResult: undefined,
      checkpoint: { charactersSince: 0, size: 0, isSaving: false },
      unavailable,
      lost,
    }
  }

  /** Joins or founds a group. @throws Failure LOG_UNAVAILABLE, LOG_VERSION, GROUP_DIFFERS */
  static async join(parts: ReplicaParts): Promise<Replica> {
    const replica = new Replica(parts)
    const context = replica.#context
    try {
      context.log = await parts.openLog({
        available: () => replica.#available(),
        unavailable: (reason) => replica.#unavailable(reason),
      })
      await replica.#join(parts.reset)
    } catch (error) {
      context.unfollow()
      await context.log?.close()
      if (error instanceof LogUnavailable || error instanceof LogLost)
        throw new Failure('LOG_UNAVAILABLE', error.message)
      throw error
    }
    return replica
  }

  get spaces(): Spaces {
    return requireMachine(this.#context).spaces
  }

  get isApplyingOwn(): boolean {
    return this.#context.isApplyingOwn
  }

  get facts(): GroupFacts {
    const { facts } = this.#context.timeline.group
    if (facts === undefined) throw new Error('The group has no facts yet.')
    return facts
  }

  /** Why requests cannot be served now; undefined if they can. */
  get unavailableReason(): string | undefined {
    return this.#notJoined ?? this.#unreachableReason
  }

  get lagMs(): number {
    return this.#context.outbox.lagMs
  }

  get position(): number {
    return this.#context.timeline.position
  }

  members(now: EpochMs): readonly ReplicaView[] {
    const { id: ownId, timeline } = this.#context
    return timeline.group.living(now).map(([id, { name, address, version, position, lagMs, joinedAt }]) => {
      const isThis = id === ownId
      const since = new Date(joinedAt).toISOString()
      return { name, address, version, position: isThis ? timeline.position : position, lagMs, since, isThis }
    })
  }

  listensAt(address: string): void {
    this.#address = address
    this.#heartbeat()
  }

  /** Resolves once the request was stored, read back and applied. @throws LogUnavailable */
  async request(command: Omit<RequestCommand, 'kind'>): Promise<Reply> {
    const context = this.#context
    assertAvailable(context)
    let known = withoutUnknownToken(command.request, this.spaces)
    if (known !== command.request) {
      // Another replica may have just added the key.
      await catchUp(context)
      known = withoutUnknownToken(command.request, this.spaces)
    }
    const connection = this.#groupConnection(known.connection)
    const { delivered, position } = context.timeline
    const request = { ...known, connection, deliveredUpTo: delivered.deliveredUpTo, sentUpTo: position }
    return (await context.outbox.append({ kind: 'request', ...command, request })) as Reply
  }

  /** Distinct in the group; 0 stays 0. */
  #groupConnection(connection: number): number {
    return connection === 0 ? 0 : this.#context.ordinal * MAX_CONNECTIONS_PER_MEMBER + connection
  }

  /** Applies a verb in the whole group. @throws LogUnavailable; any error of the verb */
  async verb({ fetched, ...command }: VerbCommand): Promise<{ readonly output: unknown; readonly wall: EpochMs }> {
    assertAvailable(this.#context)
    // All replicas have the fixtures, so a reset does not send them.
    const isSeed = fetched === undefined || fetched === this.spaces.default.seed
    const item = isSeed ? command : { ...command, fetched }
    return (await this.#context.outbox.append(item)) as { output: unknown; wall: EpochMs }
  }

  ended({ exchanges, unread }: Omit<EndedCommand, 'kind'>): void {
    const ends = exchanges.map((ended) => ({ ...ended, connection: this.#groupConnection(ended.connection) }))
    this.#context.outbox.send({ kind: 'ended', exchanges: ends, unread })
  }

  /**
   * Reads a state that includes every change reported to any client before.
   * @param act called with the time of the log
   * @throws LogUnavailable
   */
  async read<T>(act: (now: EpochMs) => T): Promise<T> {
    return act(await catchUp(this.#context))
  }

  async leave(): Promise<void> {
    const context = this.#context
    context.isLeaving = true
    clearTimeout(this.#heartbeatTimer)
    const inTime = (work: Promise<unknown>) => within(LEAVE_TIMEOUT_MS, work).catch(() => false)
    // Optional: without a checkpoint, the next replica reads more of the log.
    if (this.unavailableReason === undefined && (await inTime(context.outbox.append({ kind: 'leave' }))))
      await inTime(this.#saveOnLeaving())
    context.unfollow()
    this.#failAll(new LogUnavailable('The sandbox is stopping.'))
    await context.log?.close()
  }

  async #saveOnLeaving(): Promise<void> {
    const { timeline, ordinal } = this.#context
    const [oldest] = timeline.group.living(timeline.now)
    if (oldest === undefined || oldest[1].ordinal > ordinal) await saveCheckpoint(this.#context)
  }

  #heartbeat(): void {
    clearTimeout(this.#heartbeatTimer)
    const { isLeaving, timeline, outbox } = this.#context
    if (isLeaving) return
    const { applied, position } = timeline
    if (this.unavailableReason === undefined && applied !== undefined) {
      const heartbeat = { address: this.#address, applied, position, lagMs: Math.round(this.lagMs) }
      outbox.send({ kind: 'heartbeat', heartbeat })
    }
    this.#heartbeatTimer = setTimeout(() => this.#heartbeat(), HEARTBEAT_MS).unref()
  }

  async #join(reset: boolean): Promise<void> {
    await joinGroup(this.#context, reset)
    this.#notJoined = undefined
    this.#heartbeat()
  }

  #lost(reason: string): void {
    if (this.#context.isLeaving || this.#notJoined !== undefined) return
    this.#context.parts.warn(`Rejoining the group from the newest checkpoint of its log: ${reason}.`)
    this.#notJoined = `This replica is rejoining its group: ${reason}.`
    void this.#rejoin(this.#notJoined)
  }

  async #rejoin(reason: string): Promise<void> {
    const context = this.#context
    const before = context.timeline.machine
    context.unfollow()
    this.#failAll(new LogUnavailable(reason))
    while (!context.isLeaving) {
      try {
        await this.#join(false)
        break
      } catch (error) {
        const message = messageOf(error)
        if (message !== this.#notJoined && !(error instanceof LogUnavailable)) context.parts.warn(message)
        this.#notJoined = message
        await sleep(REJOIN_INTERVAL_MS)
      }
    }
    if (before !== context.timeline.machine) closeLogs(before)
  }

  #failAll(error: LogUnavailable): void {
    this.#context.outbox.failAll(error)
    failCatchUps(this.#context, error)
  }

  #available(): void {
    if (this.#unreachableReason === undefined) return
    this.#unreachableReason = undefined
    this.#context.parts.warn('The log can be reached again.')
    this.#heartbeat()
    this.#context.outbox.flush()
  }

  #unavailable(reason: string): void {
    const { isLeaving, parts, outbox } = this.#context
    if (isLeaving) return
    this.#unreachableReason = reason
    parts.warn(`The log cannot be reached. Requests get a 503 until it can: ${reason}`)
    const error = new LogUnavailable(reason)
    outbox.failWaiting(error)
    failCatchUps(this.#context, error)
  }
}
