import { parseJson, stringifyJson } from '../contract/json.js'
import { digestOf } from '../system/digest.js'
import { LinesReader, linesOf } from './plain-lines.js'
import type { SavedSpaces, Spaces } from './spaces.js'

/** Version of the text, raised whenever what it holds changes its shape or its meaning. */
const CHECKPOINT_VERSION = 4

/**
 * A whole sandbox as text: all spaces, keys, logs, conduct, named snapshots and
 * chance. Machines that were given the same commands have the same text, byte for byte.
 *
 * What it does not hold are the facts that it was started with (contract,
 * fixtures, start settings, seed); it goes on only where they are the same.
 */
export function checkpointOf(spaces: Spaces): string {
  return [...checkpointLines(spaces)].join('\n')
}

/**
 * The same, line by line: as the sandbox is now, whatever becomes of it until the last one was asked for.
 *
 * @returns lines that are made when they are asked for, none of which takes long
 */
export function checkpointLines(spaces: Spaces): Iterable<string> {
  // A picture that later commands do not change: see `Spaces.save`.
  const saved = spaces.save()
  return (function* () {
    yield stringifyJson({ version: CHECKPOINT_VERSION })
    yield* linesOf(saved)
  })()
}

/**
 * Makes new spaces, started with the same facts, go on from a checkpoint.
 *
 * @throws RangeError for one of another version
 */
export function loadCheckpoint(spaces: Spaces, text: string): void {
  const reader = new CheckpointReader()
  for (const line of text.split('\n')) reader.take(line)
  for (const _space of reader.putInto(spaces));
}

/** Reads a checkpoint line by line. */
export class CheckpointReader {
  #lines: LinesReader | undefined

  /** @throws RangeError for one of another version */
  take(line: string): void {
    if (this.#lines !== undefined) {
      this.#lines.take(line)
      return
    }
    const { version } = parseJson(line) as { readonly version: number }
    if (version !== CHECKPOINT_VERSION)
      throw new RangeError(`the checkpoint has version ${version}, this release reads ${CHECKPOINT_VERSION}`)
    this.#lines = new LinesReader()
  }

  /** Makes new spaces, started with the same facts, go on from what was read: one at each step. */
  *putInto(spaces: Spaces): Generator<void, void> {
    yield* spaces.load(this.#lines?.value as SavedSpaces)
  }
}

/** Tells two sandboxes apart that are not the same: a SHA-256 of all that a checkpoint holds, in base64. */
export function digestOfSandbox(spaces: Spaces): string {
  return digestOfLines(checkpointLines(spaces))
}

/** Tells plain data apart that is not the same. */
export function digestOfData(data: unknown): string {
  return digestOfLines(linesOf(data))
}

/** Line by line: the text of all may be larger than all else in memory. */
function digestOfLines(lines: Iterable<string>): string {
  return digestOf(Array.from(lines, (line) => digestOf(line)).join(''))
}
