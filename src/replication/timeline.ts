import { parseJson, stringifyJson } from '../contract/json.js'
import { applyVerb } from '../control/apply-verb.js'
import { reportVerb } from '../control/verb-text.js'
import { loadCheckpoint, writeCheckpoint } from '../core/checkpoint.js'
import type { Command } from '../core/command.js'
import type { Spaces } from '../core/spaces.js'
import type { ExchangeRef, Reply, ServiceRequest } from '../domain/messages.js'
import { EMPTY_STATE, type StoredState } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import { digestOf } from '../system/runtime.js'
import { systemClock } from '../system/system-clock.js'
import { type Item, readBatch } from './batch-text.js'
import { BEGINNING, type Checkpoint, type Entry, LogUnavailable, type Place } from './command-log.js'
import {
  addMember,
  FIXTURES,
  type Group,
  type GroupFacts,
  type JoinRequest,
  type JoinResult,
  MEMBER_TIMEOUT_MS,
  touchMember,
} from './group.js'
import type { Outcome } from './outbox.js'

/** @param state kept from a group with other facts @throws Failure if the state does not fit the contract */
export type BuildSpaces = (facts: GroupFacts, at: EpochMs, state?: StoredState | string) => Spaces

/** Tracks which responses have certainly been delivered, by position. */
export interface DeliveryTracker {
  readonly deliveredUpTo: number
  sent(position: number, now: number): void
}

/** An exchange whose end the replica that received it has not reported yet. */
interface OpenExchange {
  readonly replica: string
  readonly exchange: ExchangeRef
  readonly at: EpochMs
}

/** The first line of a checkpoint; the spaces follow. */
interface Header {
  readonly group: Group
  readonly open: readonly OpenExchange[]
  readonly position: number
  readonly now: EpochMs
}

/** The state of sandbox and group after an entry of the log: the same on all replicas. */
export class Timeline {
  group: Group = { joined: 0, members: {} }
  readonly delivered: DeliveryTracker
  /** Of the last applied entry. */
  place: Place = BEGINNING
  now: EpochMs = 0
  position = 0
  spaces: Spaces | undefined
  /** The command being applied was received by this replica. */
  isApplyingOwn = false
  /** It has applied changes that no checkpoint had. */
  hasUnsaved = false
  readonly #build: BuildSpaces
  /** By position. They end with their replica. */
  readonly #open = new Map<number, OpenExchange>()

  /** @throws RangeError for a checkpoint of another release */
  constructor(build: BuildSpaces, delivered: DeliveryTracker, checkpoint?: Checkpoint) {
    this.#build = build
    this.delivered = delivered
    if (checkpoint !== undefined) this.#load(checkpoint)
  }

  save(): string {
    const { group, position, now, spaces } = this
    const header: Header = { group, open: [...this.#open.values()], position, now }
    return `${stringifyJson(header)}\n${spaces === undefined ? '' : writeCheckpoint(spaces)}`
  }

  #load({ place, text }: Checkpoint): void {
    const end = text.indexOf('\n')
    const { group, open, position, now } = parseJson(text.slice(0, end)) as Header
    for (const openExchange of open) this.#open.set(openExchange.exchange.position, openExchange)
    Object.assign(this, { group, place, position, now })
    if (group.facts === undefined) return
    // The checkpoint contains the whole state, so the fixtures are not loaded.
    const spaces = this.#build(group.facts, now, EMPTY_STATE)
    loadCheckpoint(text.slice(end + 1), spaces)
    this.spaces = spaces
  }

  /**
   * Applies the next entry.
   * @param text with all keys @param isOwn this replica has appended it
   * @returns the outcome of each item
   */
  apply({ number, replica, batch, now }: Entry, text: string, isOwn: boolean): readonly Outcome[] {
    for (const [id, { seenAt }] of Object.entries(this.group.members))
      if (id !== replica && now - seenAt > MEMBER_TIMEOUT_MS) this.#endExchanges(id, now)
    this.isApplyingOwn = isOwn
    const outcomes = readBatch(text).map((item): Outcome => {
      try {
        return { result: this.#applyItem(item, replica, number, now) }
      } catch (error) {
        return { error }
      }
    })
    this.isApplyingOwn = false
    this.place = { number, replica, batch }
    this.now = now
    return outcomes
  }

  #applyItem(item: Item, replica: string, number: number, now: EpochMs): unknown {
    switch (item.kind) {
      case 'join':
        return this.#join(replica, item.join, number, now)
      case 'heartbeat':
        return touchMember(this.group, replica, now, item.heartbeat)
      case 'leave':
        delete this.group.members[replica]
        return this.#endExchanges(replica, now)
    }
    if (!touchMember(this.group, replica, now)) throw new LogUnavailable('This replica was removed from its group.')
    if (item.kind === 'ended') {
      const isFirstReport = ({ position }: ExchangeRef) =>
        this.#open.get(position)?.replica === replica && this.#open.delete(position)
      return this.#applyCommand({ ...item, exchanges: item.exchanges.filter(isFirstReport) }, now)
    }
    this.hasUnsaved ||= item.kind === 'verb' || !isRead(item.request)
    const result = this.#applyCommand(item, now)
    const exchange = item.kind === 'request' ? (result as Reply).exchange : undefined
    if (exchange !== undefined) {
      const { space, id, position } = exchange
      this.#open.set(position, { replica, exchange: { space, id, position }, at: now })
    }
    return result
  }

  #join(replica: string, request: JoinRequest, number: number, now: EpochMs): JoinResult {
    const result = addMember(this.group, replica, request, now, number)
    if (result !== 'founded') return result
    this.position = 0
    this.#open.clear()
    this.close()
    this.hasUnsaved = request.anew?.state !== undefined
    this.spaces = this.#build(request.facts, now, request.anew?.state)
    return result
  }

  /** A replica that is gone cannot report the ends of its exchanges. */
  #endExchanges(replica: string, now: EpochMs): void {
    const own = [...this.#open.values()].filter((openExchange) => openExchange.replica === replica)
    for (const { exchange } of own) this.#open.delete(exchange.position)
    const lost = { how: 'unknown', waitingMs: 0, bodyMs: 0, connection: 0 } as const
    const exchanges = own.map(({ exchange, at }) => ({ ...exchange, ...lost, durationMs: now - at }))
    if (exchanges.length > 0) this.#applyCommand({ kind: 'ended', exchanges }, now)
  }

  #applyCommand(command: Command, now: EpochMs): unknown {
    const { spaces } = this
    if (spaces === undefined) throw new LogUnavailable('The group has not started yet.')
    const instant = { now, position: ++this.position }
    const result = spaces.apply(command, instant, applyVerb)
    if (command.kind === 'ended') this.delivered.sent(instant.position, systemClock.monotonic())
    if (command.kind !== 'verb') return result
    const { space, verb, input } = command
    if (!this.isApplyingOwn) reportVerb(spaces, { space, name: verb, input, output: result }, now)
    const { facts } = this.group
    if (verb === 'reset' && command.files !== undefined && facts !== undefined) {
      const fixtures = digestOf(stringifyJson(command.files))
      this.group.facts = { ...facts, others: { ...facts.others, [FIXTURES]: fixtures } }
    }
    return { output: result, wall: now }
  }

  /** Ends the followers of its logs. */
  close(): void {
    const { spaces } = this
    for (const name of spaces === undefined ? [] : ['', ...spaces.names()]) spaces?.get(name)?.log.close()
    this.spaces = undefined
  }
}

function isRead({ method }: ServiceRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}
