import { digestData } from '../core/checkpoint.js'
import { type Command, Machine } from '../core/machine.js'
import type { ExchangeRef, Reply } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'
import { type Item, readBatch } from './batch-text.js'
import { compareIds, type Entry, LogUnavailable } from './command-log.js'
import type { JoinRequest, JoinResult } from './group.js'
import type { ReplicaContext } from './replica-context.js'
import { closeLogs } from './timeline.js'

/** Applies entries of the log, and wakes the callers that wait for them. */
export function applyEntries(context: ReplicaContext, entries: readonly Entry[]): void {
  for (const entry of entries) applyEntry(context, entry)
  const { applied } = context.timeline
  if (applied === undefined) return
  context.catchUps = context.catchUps.filter(({ id, resolve }) => {
    const isApplied = compareIds(id, applied) <= 0
    if (isApplied) resolve()
    return !isApplied
  })
}

const NO_CALLER = { resolve: () => {}, reject: () => {} }

function applyEntry(context: ReplicaContext, entry: Entry): void {
  const { timeline, outbox, keys, parts } = context
  const isOwn = entry.replica === context.id
  const own = isOwn ? outbox.take(entry.batch) : undefined
  const results: (() => void)[] = []
  const exchanges: ExchangeRef[] = []
  context.checkpoint.charactersSince += entry.text.length
  for (const replica of timeline.group.expire(entry.now)) abandon(context, replica, entry.now)
  context.isApplyingOwn = isOwn
  try {
    for (const [index, item] of readBatch(keys.show(entry.text)).entries()) {
      const { resolve, reject } = own?.items[index]?.caller ?? NO_CALLER
      try {
        const result = applyItem(context, item, entry)
        if (isOwn && item.kind === 'request') exchanges.push(...exchangeOf(result))
        results.push(() => resolve(result))
      } catch (error) {
        results.push(() => reject(error))
      }
    }
  } catch (error) {
    // Replicas of another release have applied such an entry, so it must not be skipped.
    if (error instanceof RangeError) markUnreadable(context, messageOf(error))
    else parts.warn(`Entry ${entry.id} of the log is damaged and was left out.`)
    const reason = new LogUnavailable('The log returned something else than was written to it.')
    for (const { caller } of own?.items ?? []) results.push(() => caller?.reject(reason))
  }
  context.isApplyingOwn = false
  timeline.applied = entry.id
  timeline.now = entry.now
  if (own !== undefined) outbox.applied(own, results, exchanges)
}

function applyItem(context: ReplicaContext, item: Item, { replica, now }: Entry): unknown {
  const { group, open } = context.timeline
  switch (item.kind) {
    case 'join':
      return applyJoin(context, replica, item.join, now)
    case 'heartbeat':
      group.touch(replica, now, item.heartbeat)
      return undefined
    case 'leave':
      group.leave(replica)
      return abandon(context, replica, now)
  }
  // Commands of a replica that the group has forgotten are ignored by all.
  if (!group.touch(replica, now)) {
    if (replica === context.id) context.lost('it was silent for too long, and was forgotten')
    throw new LogUnavailable('This replica is not a member of its group any more.')
  }
  if (item.kind === 'ended')
    return applyCommand(context, { ...item, exchanges: open.end(replica, item.exchanges) }, now)
  const result = applyCommand(context, item, now)
  if (item.kind === 'request') for (const exchange of exchangeOf(result)) open.start(replica, exchange, now)
  return result
}

function applyJoin(context: ReplicaContext, replica: string, request: JoinRequest, now: EpochMs): void {
  const { timeline } = context
  let result: JoinResult
  try {
    result = timeline.group.join(replica, request, now, timeline.applied)
    if (result === 'founded') restartGroup(context, request, now)
  } catch (error) {
    result = 'refused'
    markUnreadable(context, `it starts with something that this release does not support: ${messageOf(error)}`)
  }
  if (replica === context.id) context.onJoinResult?.(result)
}

/** Replicas with other facts go on as far as they can, but are not members any more. */
function restartGroup({ timeline, parts }: ReplicaContext, { facts, anew }: JoinRequest, now: EpochMs): void {
  timeline.position = 0
  timeline.open.clear()
  const state = anew?.state === undefined ? undefined : parts.readState(anew.state)
  closeLogs(timeline.machine)
  timeline.machine = undefined
  timeline.machine = new Machine(parts.build(facts, now, state), parts.applyVerb)
  timeline.unreadable = undefined
}

/** The state of the group is unknown from here on. */
function markUnreadable(context: ReplicaContext, reason: string): void {
  context.timeline.unreadable ??= reason
  context.lost(`this release does not understand it: ${reason}`)
}

/** A replica is gone, so nobody will report the ends of its exchanges. */
function abandon(context: ReplicaContext, replica: string, now: EpochMs): void {
  const exchanges = context.timeline.open.abandon(replica, now)
  if (exchanges.length > 0) applyCommand(context, { kind: 'ended', exchanges }, now)
}

function applyCommand({ timeline, parts, isApplyingOwn }: ReplicaContext, command: Command, now: EpochMs): unknown {
  const { machine } = timeline
  if (machine === undefined) return undefined
  const instant = { now, position: ++timeline.position }
  const result = machine.apply(command, instant)
  if (command.kind === 'ended') timeline.delivered.sent(instant.position, systemClock.monotonic())
  if (command.kind !== 'verb') return result
  if (!isApplyingOwn) parts.onVerb(machine.spaces, command, result, now)
  if (command.verb === 'reset' && command.fetched !== undefined) timeline.group.reseed(digestData(command.fetched))
  return { output: result, wall: now }
}

function exchangeOf(result: unknown): readonly ExchangeRef[] {
  const exchange = (result as Reply | undefined)?.exchange
  return exchange === undefined ? [] : [exchange]
}
