import { parseJson, stringifyJson } from '../contract/json.js'
import { digestOf } from '../system/runtime.js'
import type { SavedSpaces, Spaces } from './spaces.js'

/** Raised when the content, or the text of entries in the log of replicas, changes its shape or meaning. */
const CHECKPOINT_VERSION = 14

/**
 * A whole sandbox as JSON: spaces, keys, logs, conduct, snapshots, random streams. Machines with the same commands have
 * the same text. It does not contain the options of the start, which must be the same.
 */
export function writeCheckpoint(spaces: Spaces): string {
  return stringifyJson({ version: CHECKPOINT_VERSION, spaces: spaces.save() })
}

/** Restores a checkpoint into new spaces with the same options. @throws RangeError for another version */
export function loadCheckpoint(text: string, spaces: Spaces): void {
  const { version, spaces: saved } = parseJson(text) as { readonly version: number; readonly spaces: SavedSpaces }
  if (version !== CHECKPOINT_VERSION)
    throw new RangeError(`the checkpoint has version ${version}, this release reads version ${CHECKPOINT_VERSION}`)
  spaces.load(saved)
}

/** SHA-256 of a checkpoint, in base64. */
export function digestSandbox(spaces: Spaces): string {
  return digestOf(writeCheckpoint(spaces))
}
