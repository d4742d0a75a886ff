import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { stringifyJson } from '../contract/json.js'
import { Failure } from '../domain/failures.js'
import { type DurationMs, SECOND_MS } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { systemClock } from '../system/system-clock.js'
import { applyEntries } from './apply-entries.js'
import { type CommandLog, compareIds, LogLost } from './command-log.js'
import { differences, type JoinRequest, type JoinResult, MEMBER_TIMEOUT_MS, type Member } from './group.js'
import { considerCheckpoint, loadCheckpoint, saveCheckpoint } from './replica-checkpoint.js'
import { openedLog, type ReplicaContext } from './replica-context.js'

export const HEARTBEAT_MS: DurationMs = SECOND_MS
/** Attempts to read while the checkpoint is replaced and the log trimmed. */
const MAX_READINGS = 10

/**
 * Reads the log from its newest checkpoint, then joins or founds the group.
 * @param reset restarts the group
 * @throws Failure LOG_VERSION, GROUP_DIFFERS; LogUnavailable; LogLost
 */
export async function joinGroup(context: ReplicaContext, reset: boolean): Promise<void> {
  const { parts } = context
  const log = openedLog(context)
  const startedAt = systemClock.monotonic()
  for (;;) {
    context.id = randomUUID()
    context.outbox.restart(context.id)
    await readOrClear(context, log, reset)
    const { now, id: after } = await log.end()
    const { group, unreadable } = context.timeline
    if (unreadable !== undefined && !reset) throw otherRelease(unreadable)
    const known = unreadable === undefined ? group.facts : undefined
    const facts = parts.facts(known, now)
    const differing = known === undefined ? [] : differences(facts, known)
    const isAnew = reset || differing.length > 0
    const living = isAnew ? group.living(now) : []
    if (living.length > 0) {
      const isOverdue = systemClock.monotonic() - startedAt > MEMBER_TIMEOUT_MS + SECOND_MS
      if (isOverdue || living.some(([, { seenAt }]) => seenAt > now - HEARTBEAT_MS * 2))
        throw groupDiffers(differing, living, reset)
      // A killed replica still counts as alive for a moment.
      await sleep(HEARTBEAT_MS)
      continue
    }
    const state = isAnew && !reset ? stateToKeep(context) : undefined
    // Invalid facts must not get into the log.
    if (isAnew || known === undefined) parts.check(facts, state === undefined ? undefined : parts.readState(state))
    const result = await requestToJoin(context, log, {
      name: parts.name,
      version: parts.version,
      facts,
      ...(isAnew && { anew: { after, ...(state !== undefined && { state }) } }),
    })
    if (result === 'refused') continue
    const { timeline } = context
    context.ordinal = timeline.group.living(timeline.now).find(([id]) => id === context.id)?.[1].ordinal ?? 0
    if (result === 'founded') await saveCheckpoint(context)
    if (isAnew && !reset && group.facts !== undefined)
      parts.warn(
        `The group continues with the options of this replica, because no other replica is running: ${differing.join('; ')}. Pets, orders and keys were kept.`,
      )
    return
  }
}

async function requestToJoin(context: ReplicaContext, log: CommandLog, join: JoinRequest): Promise<JoinResult> {
  const joined = new Promise<JoinResult>((resolve) => {
    context.onJoinResult = resolve
  })
  await context.outbox.appendFirst(log, { kind: 'join', join })
  return joined
}

async function readOrClear(context: ReplicaContext, log: CommandLog, reset: boolean): Promise<void> {
  try {
    await readToEnd(context, log)
  } catch (error) {
    const { id, now } = await log.end()
    const isUsed = id !== undefined && now - Number.parseInt(id, 10) <= MEMBER_TIMEOUT_MS
    const isUnusable = error instanceof LogLost || (error instanceof Failure && error.code === 'LOG_VERSION')
    if (!isUnusable || !reset || isUsed) throw error
    await log.clear()
    await readToEnd(context, log)
  }
}

async function readToEnd(context: ReplicaContext, log: CommandLog): Promise<void> {
  let missing = ''
  for (let reading = 0; reading < MAX_READINGS; reading++) {
    context.unfollow()
    await loadNewestCheckpoint(context, log)
    const after = context.timeline.applied
    const { id } = await log.end()
    const isComplete = await new Promise<boolean>((resolve, reject) => {
      context.unfollow = log.follow(after, {
        entries(entries) {
          applyEntries(context, entries)
          considerCheckpoint(context)
        },
        lost(reason) {
          missing = reason
          resolve(false)
          context.onJoinResult?.('refused')
          context.lost(reason)
        },
      })
      if (id === undefined || (after !== undefined && compareIds(id, after) <= 0)) resolve(true)
      else context.catchUps.push({ id, resolve: () => resolve(true), reject })
    })
    if (isComplete) return
  }
  throw new LogLost(
    `The log of the group is incomplete: ${missing}. If replicas are running, stop the oldest with \`control stop\`, which writes a checkpoint. Otherwise restart the group with --reset.`,
  )
}

/** Separate, so that the text of the checkpoint can be garbage collected. */
async function loadNewestCheckpoint(context: ReplicaContext, log: CommandLog): Promise<void> {
  const stored = await log.loadCheckpoint()
  try {
    await loadCheckpoint(context, stored)
  } catch (error) {
    throw error instanceof RangeError ? otherRelease(messageOf(error)) : error
  }
}

function stateToKeep({ timeline: { machine }, parts }: ReplicaContext): string | undefined {
  if (machine === undefined) return undefined
  const text = stringifyJson(machine.spaces.default.state())
  try {
    parts.readState(text)
    return text
  } catch (error) {
    parts.warn(
      `Pets, orders and keys of the group were dropped, because they do not fit the contract: ${messageOf(error)}`,
    )
    return undefined
  }
}

function otherRelease(what: string): Failure {
  return new Failure(
    'LOG_VERSION',
    `The data of the group was written by another release: ${what}. Start that release, choose another --group, or restart the group with --reset, which deletes its data.`,
  )
}

function groupDiffers(
  differing: readonly string[],
  living: readonly (readonly [string, Member])[],
  reset: boolean,
): Failure {
  const others = living.map(([, { name, address }]) => (address === '' ? name : `${name} (${address})`)).join(', ')
  const isOne = living.length === 1
  const why = reset
    ? `The group cannot be restarted (--reset) while other replicas are running: ${others}.`
    : `The options of this replica differ from its group (running: ${others}): ${differing.join('; ')}.`
  return new Failure(
    'GROUP_DIFFERS',
    `${why} Stop ${isOne ? 'it' : 'them'} first, start with the same options, or choose another --group.`,
  )
}
