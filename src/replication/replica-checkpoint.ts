import { parseJson, stringifyJson } from '../contract/json.js'
import { loadCheckpoint as loadSpaces, writeCheckpoint } from '../core/checkpoint.js'
import { Machine } from '../core/machine.js'
import { EMPTY_STATE } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import { messageOf } from '../system/message-of.js'
import { compareIds, LogUnavailable, type StoredCheckpoint } from './command-log.js'
import type { SavedGroup } from './group.js'
import { newTimeline, type OpenExchange, openedLog, type ReplicaContext, type Timeline } from './replica-context.js'

/** A checkpoint is due after this number of characters of entries, or its own length if larger. */
const MIN_CHARACTERS_BETWEEN = 8 * 1024 * 1024
const HEADER_VERSION = 4

interface CheckpointHeader {
  readonly version: number
  readonly group: SavedGroup
  readonly open: readonly OpenExchange[]
  readonly position: number
  readonly now: EpochMs
}

/** Writes a checkpoint when it is due, only on the oldest replica. */
export function considerCheckpoint(context: ReplicaContext): void {
  const { charactersSince, size, isSaving } = context.checkpoint
  if (context.unavailable() !== undefined || isSaving) return
  if (charactersSince < Math.max(MIN_CHARACTERS_BETWEEN, size)) return
  const { group, now } = context.timeline
  if (group.living(now)[0]?.[0] === context.id) void saveCheckpoint(context)
}

export async function saveCheckpoint(context: ReplicaContext): Promise<void> {
  const { timeline, checkpoint, parts } = context
  const { applied, machine, group, now } = timeline
  if (applied === undefined || machine === undefined) return
  checkpoint.isSaving = true
  checkpoint.charactersSince = 0
  try {
    const read = group.living(now).map(([, member]) => member.applied ?? '0-0')
    const trimUpTo = [...read, applied].reduce((a, b) => (compareIds(a, b) < 0 ? a : b))
    await openedLog(context).saveCheckpoint(
      { id: applied, pieces: [checkpointText(context, timeline, machine)] },
      trimUpTo,
    )
  } catch (error) {
    if (!context.isLeaving) parts.warn(`Failed to write a checkpoint: ${messageOf(error)}`)
  }
  checkpoint.isSaving = false
}

/** Header and state, a line each. */
function checkpointText({ keys, checkpoint }: ReplicaContext, timeline: Timeline, { spaces }: Machine): string {
  const { group, open, position, now } = timeline
  const header: CheckpointHeader = {
    version: HEADER_VERSION,
    group: group.save(),
    open: [...open.values()],
    position,
    now,
  }
  const text = keys.hide(`${stringifyJson(header)}\n${writeCheckpoint(spaces)}`)
  checkpoint.size = text.length
  return text
}

/**
 * Replaces the timeline by the one in a checkpoint, or by a new one.
 * @throws RangeError for a checkpoint of another version; LogUnavailable if the replica is leaving
 */
export async function loadCheckpoint(context: ReplicaContext, stored: StoredCheckpoint | undefined): Promise<void> {
  const timeline = newTimeline(context.parts.openDeliveryTracker)
  const size = stored === undefined ? 0 : await readCheckpoint(context, timeline, stored)
  context.timeline = timeline
  context.checkpoint.size = size
  context.checkpoint.charactersSince = 0
}

async function readCheckpoint(
  context: ReplicaContext,
  timeline: Timeline,
  { id, pieces }: StoredCheckpoint,
): Promise<number> {
  const { keys, parts } = context
  const text = keys.show([...pieces].join(''))
  await nextTurn(context)
  const end = text.indexOf('\n')
  if (end === -1) throw new RangeError('the checkpoint is empty')
  const header = readHeader(text.slice(0, end))
  const { group, open, position, now } = header
  timeline.group.load(group)
  for (const one of open) timeline.open.set(one.exchange.position, one)
  Object.assign(timeline, { position, now, applied: id })
  if (group.facts === undefined) return text.length
  // The checkpoint contains the whole state, so the fixtures are not loaded.
  const spaces = parts.build(group.facts, now, EMPTY_STATE)
  loadSpaces(text.slice(end + 1), spaces)
  timeline.machine = new Machine(spaces, parts.applyVerb)
  return text.length
}

async function nextTurn(context: ReplicaContext): Promise<void> {
  await new Promise(setImmediate)
  if (context.isLeaving) throw new LogUnavailable('The sandbox is stopping.')
}

function readHeader(line: string): CheckpointHeader {
  const header = parseJson(line) as CheckpointHeader
  if (header.version === HEADER_VERSION) return header
  throw new RangeError(`the checkpoint has version ${header.version}, this release reads version ${HEADER_VERSION}`)
}
