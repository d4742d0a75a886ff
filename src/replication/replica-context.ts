import type { ApplyVerb, Machine, VerbCommand } from '../core/machine.js'
import type { Spaces } from '../core/spaces.js'
import type { ExchangeRef } from '../domain/messages.js'
import type { StoredState } from '../domain/state.js'
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
  build(facts: GroupFacts, at: EpochMs, state?: StoredState): Spaces
  /** @throws Failure if a group cannot start with these facts */
  check(facts: GroupFacts, state?: StoredState): void
  /** @throws Failure if the state does not fit the contract */
  readState(text: string): StoredState
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
  /** Exchanges, by position, whose end the replica that received them has not reported yet. They end with that replica. */
  readonly open: Map<number, OpenExchange>
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
    open: new Map(),
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

export interface OpenExchange {
  readonly replica: string
  readonly exchange: ExchangeRef
  readonly at: EpochMs
}
