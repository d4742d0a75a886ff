import type { ApplyVerb, Machine, VerbCommand } from '../core/machine.js'
import type { Spaces } from '../core/spaces.js'
import type { SpaceState } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import { type CommandLog, compareIds, type EntryId, LogUnavailable, type LogWatcher } from './command-log.js'
import type { GroupFacts, JoinResult } from './group.js'
import type { Outbox } from './outbox.js'
import type { HiddenKeys } from './secrets.js'
import type { DeliveryTracker, Timeline } from './timeline.js'

export interface ReplicaParts {
  readonly name: string
  readonly version: string
  openLog(watcher: LogWatcher): Promise<CommandLog>
  /** The facts of this replica. Values that were not given are those of the group, or chosen now. */
  facts(group: GroupFacts | undefined, now: EpochMs): GroupFacts
  /** Spaces at their start. @param state carried over from a group with other facts */
  build(facts: GroupFacts, at: EpochMs, state?: SpaceState): Spaces
  /** @throws Failure if a group cannot start with these facts */
  check(facts: GroupFacts, state?: SpaceState): void
  /** Reads a state of a group with other facts. @throws Failure if it does not fit */
  readState(text: string): SpaceState
  readonly applyVerb: ApplyVerb
  /** A verb that another replica received was applied. */
  onVerb(spaces: Spaces, command: VerbCommand, output: unknown, now: EpochMs): void
  readonly secretKeys: readonly string[]
  readonly reset: boolean
  openDeliveryTracker(): DeliveryTracker
  warn(message: string): void
}

/** State of a replica that joining, applying and appending share. */
export interface ReplicaContext {
  readonly parts: ReplicaParts
  readonly keys: HiddenKeys
  readonly outbox: Outbox
  log: CommandLog | undefined
  /** Unique; changes whenever the replica joins again. */
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
  /** Why nothing can be done at present; undefined if it can. */
  unavailable(): string | undefined
  /** Entries that this replica had read are gone, or it cannot go on from them. */
  lost(reason: string): void
}

export function openedLog({ log }: ReplicaContext): CommandLog {
  if (log === undefined) throw new LogUnavailable('The log is not open.')
  return log
}

export function requireMachine({ timeline: { machine } }: ReplicaContext): Machine {
  if (machine === undefined) throw new LogUnavailable('The group has other facts than this replica.')
  return machine
}

/** Waits until everything that is in the log now is applied. @returns the time of the log. @throws LogUnavailable */
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
