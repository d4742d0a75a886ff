import { parseJson, stringifyJson } from '../contract/json.js'
import { digestOf } from '../system/digest.js'
import type { SavedSpaces, Spaces } from './spaces.js'

/** Version of the text, raised whenever what it holds changes its shape or its meaning. */
const CHECKPOINT_VERSION = 3

/**
 * A whole sandbox as text: all spaces, keys, logs, conduct, named snapshots and
 * chance. Machines that were given the same commands have the same text, byte for byte.
 *
 * What it does not hold are the facts that it was started with (contract,
 * fixtures, start settings, seed); it goes on only where they are the same.
 */
export function checkpointOf(spaces: Spaces): string {
  return stringifyJson({ version: CHECKPOINT_VERSION, ...spaces.save() })
}

/**
 * Makes new spaces, started with the same facts, go on from a checkpoint.
 *
 * @throws RangeError for one of another version
 */
export function loadCheckpoint(spaces: Spaces, text: string): void {
  const { version, ...saved } = parseJson(text) as SavedSpaces & { readonly version: number }
  if (version !== CHECKPOINT_VERSION)
    throw new RangeError(`the checkpoint has version ${version}, this release reads ${CHECKPOINT_VERSION}`)
  spaces.load(saved)
}

/** Tells two sandboxes apart that are not the same: the SHA-256 of all that a checkpoint holds, in base64. */
export function digestOfSandbox(spaces: Spaces): string {
  const { spaces: all, ...shared } = spaces.save()
  // One space after the other: the text of all may be larger than all else in memory.
  return digestOf(stringifyJson(shared), ...all.map((space) => digestOf(stringifyJson(space))))
}
