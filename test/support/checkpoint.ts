import { CheckpointReader, checkpointLines } from '../../src/core/checkpoint.js'
import type { Spaces } from '../../src/core/spaces.js'

export function writeCheckpoint(spaces: Spaces): string {
  return [...checkpointLines(spaces)].join('\n')
}

/** @throws RangeError for another version */
export function loadCheckpoint(spaces: Spaces, text: string): void {
  const reader = new CheckpointReader()
  for (const line of text.split('\n')) reader.take(line)
  for (const _space of reader.putInto(spaces));
}
