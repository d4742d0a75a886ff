import { stringifyJson } from '../contract/json.js'
import { type Command, Machine } from '../core/machine.js'
import type { ExchangeRef, Reply } from '../domain/messages.js'
import type { EpochMs } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { digestOf } from '../system/runtime.js'
import { systemClock } from '../system/system-clock.js'
import { type Item, readBatch } from './batch-text.js'
import { compareIds, type Entry, LogUnavailable } from './command-log.js'
import type { JoinRequest, JoinResult } from './group.js'
import { closeLogs, type ReplicaContext } from './replica-context.js'

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
    // Not skipped: replicas of another release may have applied such an entry.
    if (error instanceof RangeError) markUnreadable(context, messageOf(error))
    else parts.warn(`Skipped the damaged entry ${entry.id} of the log.`)
    const reason = new LogUnavailable('The log returned a different text than was written to it.')
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
  // All replicas ignore the commands of a replica that is not a member.
  if (!group.touch(replica, now)) {
    if (replica === context.id)
      context.lost('this replica sent no heartbeat for too long, and was removed from the group')
    throw new LogUnavailable('This replica was removed from its group.')
  }
  const isFirstReport = ({ position }: ExchangeRef) => open.get(position)?.replica === replica && open.delete(position)
  if (item.kind === 'ended')
    return applyCommand(context, { ...item, exchanges: item.exchanges.filter(isFirstReport) }, now)
  const result = applyCommand(context, item, now)
  if (item.kind === 'request')
    for (const { space, id, position } of exchangeOf(result))
      open.set(position, { replica, exchange: { space, id, position }, at: now })
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
    markUnreadable(context, `its start is not supported: ${messageOf(error)}`)
  }
  if (replica === context.id) context.onJoinResult?.(result)
}

/** Replicas with other facts keep applying entries, but leave the group. */
function restartGroup({ timeline, parts }: ReplicaContext, { facts, anew }: JoinRequest, now: EpochMs): void {
  timeline.position = 0
  timeline.open.clear()
  const state = anew?.state === undefined ? undefined : parts.readState(anew.state)
  closeLogs(timeline.machine)
  timeline.machine = undefined
  timeline.machine = new Machine(parts.build(facts, now, state), parts.applyVerb)
  timeline.unreadable = undefined
}

function markUnreadable(context: ReplicaContext, reason: string): void {
  context.timeline.unreadable ??= reason
  context.lost(`this release cannot apply them: ${reason}`)
}

/** A replica that is gone cannot report the ends of its exchanges. */
function abandon(context: ReplicaContext, replica: string, now: EpochMs): void {
  const { open } = context.timeline
  const own = [...open.values()].filter((one) => one.replica === replica)
  for (const { exchange } of own) open.delete(exchange.position)
  const lost = { how: 'unknown', waitingMs: 0, bodyMs: 0, connection: 0 } as const
  const exchanges = own.map(({ exchange, at }) => ({ ...exchange, ...lost, durationMs: now - at }))
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
  if (command.verb === 'reset' && command.fetched !== undefined)
    timeline.group.reseed(digestOf(stringifyJson(command.fetched)))
  return { output: result, wall: now }
}

function exchangeOf(result: unknown): readonly ExchangeRef[] {
  const exchange = (result as Reply | undefined)?.exchange
  return exchange === undefined ? [] : [exchange]
}
