import type { ApplyVerb, Machine, VerbCommand } from '../core/machine.js'
import type { Spaces } from '../core/spaces.js'
import type { EndedExchange, ExchangeRef } from '../domain/messages.js'
import type { SpaceState } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import { type CommandLog, compareIds, type EntryId, LogUnavailable, type LogWatcher } from './command-log.js'
import { Group, type GroupFacts, type JoinResult } from './group.js'
import type { Outbox } from './outbox.js'
import type { HiddenKeys } from './secrets.js'

export interface ReplicaParts {
  readonly name: string
  readonly version: string
  openLog(watcher: LogWatcher): Promise<CommandLog>
  /** Values that are not configured come from the group, or are chosen now. */
  facts(group: GroupFacts | undefined, now: EpochMs): GroupFacts
  /** @param state kept from a group with other facts */
  build(facts: GroupFacts, at: EpochMs, state?: SpaceState): Spaces
  /** @throws Failure if a group cannot start with these facts */
  check(facts: GroupFacts, state?: SpaceState): void
  /** @throws Failure if the state does not fit the contract */
  readState(text: string): SpaceState
  readonly applyVerb: ApplyVerb
  onVerb(spaces: Spaces, command: VerbCommand, output: unknown, now: EpochMs): void
  readonly secretKeys: readonly string[]
  readonly reset: boolean
  openDeliveryTracker(): DeliveryTracker
  warn(message: string): void
}

export interface ReplicaContext {
  readonly parts: ReplicaParts
  readonly keys: HiddenKeys
  readonly outbox: Outbox
  log: CommandLog | undefined
  /** Unique; changes with each join. */
  id: string
  ordinal: number
  timeline: Timeline
  isLeaving: boolean
  /** The command being applied was received by this replica. */
  isApplyingOwn: boolean
  catchUps: { readonly id: EntryId; readonly resolve: () => void; readonly reject: (error: Error) => void }[]
  unfollow: () => void
  onJoinResult: ((result: JoinResult) => void) | undefined
  checkpoint: { charactersSince: number; size: number; isSaving: boolean }
  /** Why requests cannot be served now; undefined if they can. */
  unavailable(): string | undefined
  /** Entries that this replica has read are missing, or cannot be applied. */
  lost(reason: string): void
}

export function openedLog({ log }: ReplicaContext): CommandLog {
  if (log === undefined) throw new LogUnavailable('The log is not open.')
  return log
}

export function requireMachine({ timeline: { machine } }: ReplicaContext): Machine {
  if (machine === undefined)
    throw new LogUnavailable('The group was restarted with other options than this replica has.')
  return machine
}

/** Waits until all entries now in the log are applied. @returns the time of the log. @throws LogUnavailable */
export async function catchUp(context: ReplicaContext): Promise<EpochMs> {
  assertAvailable(context)
  const { id, now } = await openedLog(context).end()
  const { applied } = context.timeline
  if (id !== undefined && (applied === undefined || compareIds(applied, id) < 0))
    await new Promise<void>((resolve, reject) => context.catchUps.push({ id, resolve, reject }))
  return Math.max(now, context.timeline.now)
}

export function assertAvailable(context: ReplicaContext): void {
  const reason = context.unavailable()
  if (reason !== undefined) throw new LogUnavailable(reason)
}

export function failCatchUps(context: ReplicaContext, error: LogUnavailable): void {
  for (const { reject } of context.catchUps.splice(0)) reject(error)
}

/** The state of machine and group after an entry of the log. */
export interface Timeline {
  readonly group: Group
  readonly open: OpenExchanges
  readonly delivered: DeliveryTracker
  machine: Machine | undefined
  position: number
  applied: EntryId | undefined
  now: EpochMs
  /** Why the state is unknown: this release cannot apply an entry. */
  unreadable: string | undefined
}

/** Tracks which responses have certainly been delivered, by position. */
export interface DeliveryTracker {
  readonly deliveredUpTo: number
  sent(position: number, now: number): void
}

export function newTimeline(openDeliveryTracker: () => DeliveryTracker): Timeline {
  return {
    group: new Group(),
    open: new OpenExchanges(),
    delivered: openDeliveryTracker(),
    machine: undefined,
    position: 0,
    applied: undefined,
    now: 0,
    unreadable: undefined,
  }
}

export function closeLogs(machine: Machine | undefined): void {
  if (machine === undefined) return
  for (const name of ['', ...machine.spaces.names()]) machine.spaces.get(name)?.log.close()
}

interface OpenExchange {
  readonly replica: string
  readonly exchange: ExchangeRef
  readonly at: EpochMs
}

export type SavedOpenExchanges = readonly OpenExchange[]

/** Exchanges whose end was not reported yet by the replica that received them. They end with that replica. */
export class OpenExchanges {
  readonly #byPosition = new Map<number, OpenExchange>()

  start(replica: string, exchange: ExchangeRef, at: EpochMs): void {
    const { space, id, position } = exchange
    this.#byPosition.set(position, { replica, exchange: { space, id, position }, at })
  }

  /** @returns the ends that are reported for the first time */
  end(replica: string, ends: readonly EndedExchange[]): readonly EndedExchange[] {
    return ends.filter(
      ({ position }) => this.#byPosition.get(position)?.replica === replica && this.#byPosition.delete(position),
    )
  }

  abandon(replica: string, now: EpochMs): readonly EndedExchange[] {
    const own = this.save().filter((open) => open.replica === replica)
    for (const { exchange } of own) this.#byPosition.delete(exchange.position)
    return own.map(({ exchange, at }) => {
      return { ...exchange, how: 'unknown', durationMs: now - at, waitingMs: 0, bodyMs: 0, connection: 0 }
    })
  }

  clear(): void {
    this.#byPosition.clear()
  }

  save(): SavedOpenExchanges {
    return [...this.#byPosition.values()]
  }

  load(saved: SavedOpenExchanges): void {
    for (const open of saved) this.#byPosition.set(open.exchange.position, open)
  }
}
