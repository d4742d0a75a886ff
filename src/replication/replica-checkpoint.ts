import { parseJson, stringifyJson } from '../contract/json.js'
import { CheckpointReader, checkpointLines } from '../core/checkpoint.js'
import { type ApplyVerb, Machine } from '../core/machine.js'
import type { Spaces } from '../core/spaces.js'
import { EMPTY_STATE, type SpaceState } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import type { StoredCheckpoint } from './command-log.js'
import type { GroupFacts, SavedGroup } from './group.js'
import type { HiddenKeys } from './hidden-keys.js'
import type { SavedOpenExchanges } from './open-exchanges.js'
import type { Timeline } from './timeline.js'

/** Characters of a checkpoint that are written, or read, in one turn of the event loop. */
const CHECKPOINT_PIECE = 256 * 1024
/** Version of what a checkpoint holds besides the sandbox. */
const HEADER_VERSION = 3

interface CheckpointHeader {
  readonly version: number
  readonly group: SavedGroup
  readonly open: SavedOpenExchanges
  readonly position: number
  readonly now: EpochMs
}

/** As all is now; but what is written of it is made piece by piece, while the replica goes on. */
export function checkpointPieces(
  { group, open, position, now }: Timeline,
  { spaces }: Machine,
  keys: HiddenKeys,
): Iterable<string> {
  const header = { version: HEADER_VERSION, group: group.save(), open: open.save(), position, now }
  return inPieces(stringifyJson(header satisfies CheckpointHeader), checkpointLines(spaces), keys)
}

function* inPieces(header: string, lines: Iterable<string>, keys: HiddenKeys): Generator<string, void> {
  let piece = keys.hide(header)
  for (const line of lines) {
    piece += `\n${keys.hide(line)}`
    if (piece.length < CHECKPOINT_PIECE) continue
    yield piece
    piece = ''
  }
  yield piece
}

/** What is needed to go on from a checkpoint. */
interface Means {
  readonly keys: HiddenKeys
  readonly applyVerb: ApplyVerb
  /** Spaces at their start, by a group's facts. */
  build(facts: GroupFacts, at: EpochMs, state: SpaceState): Spaces
  /** Lets others have their turn. */
  nextTurn(): Promise<void>
}

/**
 * Goes on from a checkpoint, a piece in each turn of the event loop.
 *
 * @returns how many characters it has
 * @throws RangeError for one of another version
 */
export async function goOnFrom(
  { id, pieces }: StoredCheckpoint,
  timeline: Timeline,
  { keys, applyVerb, build, nextTurn }: Means,
): Promise<number> {
  let header: CheckpointHeader | undefined
  const sandbox = new CheckpointReader()
  let size = 0
  for (const piece of pieces) {
    size += piece.length
    for (const line of keys.show(piece).split('\n')) {
      if (header === undefined) header = readHeader(line)
      else if (line !== '') sandbox.take(line)
    }
    await nextTurn()
  }
  if (header === undefined) throw new RangeError('the checkpoint is empty')
  const { group, open, position, now } = header
  timeline.group.load(group)
  timeline.open.load(open)
  timeline.position = position
  timeline.now = now
  timeline.applied = id
  const { facts } = group
  if (facts === undefined) return size
  // All that they hold comes from the checkpoint, so that they need not be filled with the fixtures first.
  const spaces = build(facts, now, EMPTY_STATE)
  for (const _space of sandbox.putInto(spaces)) await nextTurn()
  timeline.machine = new Machine(spaces, applyVerb)
  return size
}

/** @throws RangeError for one of another version */
function readHeader(line: string): CheckpointHeader {
  const header = parseJson(line) as CheckpointHeader
  if (header.version === HEADER_VERSION) return header
  throw new RangeError(`the checkpoint has version ${header.version}, this release reads ${HEADER_VERSION}`)
}
