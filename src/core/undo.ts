import type { ConductLedger } from '../conduct/conduct-ledger.js'
import type { ApiKey } from '../domain/keys.js'
import type { Snapshot } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import type { SavedLog } from '../exchanges/exchange-log.js'
import type { Keyring, Keys } from './keyring.js'
import { isEqual, type SpaceState } from './space-state.js'

/** The state before a verb, and the other parts that it changed; the rest are undefined. */
export interface ReplacedSpace {
  readonly state: SpaceState
  readonly snapshots: ReadonlyMap<string, Snapshot> | undefined
  /** The snapshot on disk that the verb replaced or removed. */
  readonly file: ReplacedFile | undefined
  /** Conduct and log: only if the verb emptied them, or removed the space. */
  readonly conduct: ConductLedger | undefined
  readonly log: SavedLog | undefined
}

export interface ReplacedFile {
  readonly name: string
  readonly content: Snapshot | null
}

/** What takes back the last verb of a space, for a minute. */
export interface Undo extends ReplacedSpace {
  /** Position of its command. */
  readonly id: number
  readonly verb: string
  /** Real time. */
  readonly at: EpochMs
  /** Requests to the space before. */
  readonly requests: number
  readonly keys: ChangedKeys | undefined
  /** Of the space before, if the verb changed them. */
  readonly handlers: { readonly before: ReadonlyMap<string, unknown> | undefined } | undefined
}

interface ChangedKeys {
  readonly before: Keys
  readonly after: Keys
}

/** Those that a verb added, changed or removed. */
function changedKeys({ before, after }: ChangedKeys): readonly string[] {
  const all = new Set([...before.valid.keys(), ...after.valid.keys()])
  return [...all].filter((key) => !isEqual(before.valid.get(key), after.valid.get(key)))
}

/** A key that the verb changed, and a later one as well: the undo would take that back too. */
export function keyChangedSince(keys: Keyring, changed: ChangedKeys): ApiKey | undefined {
  const key = changedKeys(changed).find(
    (changedKey) => !isEqual(keys.valid.get(changedKey), changed.after.valid.get(changedKey)),
  )
  return key === undefined
    ? undefined
    : (keys.valid.get(key) ?? changed.after.valid.get(key) ?? changed.before.valid.get(key))
}

/** The keys with those that the verb changed as they were before, in their order. */
export function keysBefore(keys: Keyring, changed: ChangedKeys): Keys {
  const own = new Set(changedKeys(changed))
  const restored = (before: ReadonlyMap<string, ApiKey>, present: ReadonlyMap<string, ApiKey>) => {
    const left = new Map(
      [...before].flatMap(([key, apiKey]) => {
        const now = own.has(key) ? apiKey : present.get(key)
        return now === undefined ? [] : [[key, now] as const]
      }),
    )
    for (const [key, apiKey] of present) if (!own.has(key)) left.set(key, apiKey)
    return left
  }
  return {
    stored: restored(changed.before.stored, keys.stored),
    valid: restored(changed.before.valid, keys.valid),
  }
}
