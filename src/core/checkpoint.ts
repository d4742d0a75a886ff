import type { SavedConduct } from '../conduct/conduct-ledger.js'
import { PastConduct } from '../conduct/total-conduct.js'
import { parseJson, stringifyJson } from '../contract/json.js'
import { Collection } from '../domain/collection.js'
import type { ApiKey } from '../domain/keys.js'
import { digestOf } from '../system/runtime.js'
import { Accounts } from './accounts.js'
import type { Collections } from './collections.js'
import { byKey, type Keys } from './keyring.js'
import { pastSpace, type Space } from './space.js'
import type { SpaceState } from './space-state.js'
import type { Spaces } from './spaces.js'
import type { Undo } from './undo.js'

/** Raised when the content, or the text of entries in the log of replicas, changes its shape or meaning. */
const CHECKPOINT_VERSION = 16

/**
 * A whole sandbox as JSON: spaces, keys, logs, conduct, snapshots, random streams. Machines with the same commands have
 * the same text. It does not contain the options of the start, which must be the same.
 */
export function writeCheckpoint(spaces: Spaces): string {
  return stringifyJson({ version: CHECKPOINT_VERSION, spaces: saveSpaces(spaces) })
}

/** Restores a checkpoint into new spaces with the same options. @throws RangeError for another version */
export function loadCheckpoint(text: string, spaces: Spaces): void {
  const { version, spaces: saved } = parseJson(text) as { version: number; spaces: ReturnType<typeof saveSpaces> }
  if (version !== CHECKPOINT_VERSION)
    throw new RangeError(`the checkpoint has version ${version}, this release reads version ${CHECKPOINT_VERSION}`)
  loadSpaces(spaces, saved)
}

/** SHA-256 of a checkpoint, in base64. Without events: some are of one replica only, such as its end. */
export function digestSandbox(sandbox: Spaces): string {
  const { spaces, ...saved } = saveSpaces(sandbox)
  return digestOf(stringifyJson({ ...saved, spaces: spaces.map(({ events, ...space }) => space) }))
}

function saveSpaces(spaces: Spaces) {
  const { removedSpace, default: first } = spaces
  return {
    keys: saveKeys(first.shared.keys.all),
    room: first.shared.memoryBudget.state,
    spaces: spaces.all().map(saveSpace),
    removed: removedSpace === undefined ? null : { ...removedSpace, undo: saveUndo(removedSpace.undo) },
    past: savePast(first.shared.pastConduct ?? new PastConduct()),
  }
}

function savePast({ restorable, older }: PastConduct) {
  const saved = restorable.map(({ name, conduct, plans, state: { settings } }) => {
    return { name, conduct: conduct.save(), settings, plans: [...plans] }
  })
  return { older, restorable: saved }
}

function loadPast(space: Space, { older, restorable }: ReturnType<typeof savePast>): PastConduct {
  const loaded = restorable.map(({ conduct, plans, ...facts }) =>
    pastSpace(space.shared, { ...facts, conduct: loadConduct(space, conduct), plans: new Map(plans) }),
  )
  return new PastConduct(loaded, older)
}

function loadSpaces(spaces: Spaces, { keys, room, spaces: saved, removed, past }: ReturnType<typeof saveSpaces>): void {
  const { shared } = spaces.default
  shared.keys.all = loadKeys(keys)
  for (const value of saved) {
    const space = spaces.open(value.name, 0, true)
    if (space !== undefined) loadSpace(space, value)
  }
  spaces.removedSpace = removed === null ? undefined : { ...removed, undo: loadUndo(spaces.default, removed.undo) }
  shared.pastConduct = loadPast(spaces.default, past)
  shared.memoryBudget.state = room
  spaces.nextExpiry = 0
}

/** Unlike a snapshot it has the keys themselves, log and conduct. */
function saveSpace({ name, state, snapshots, undo, requests, conduct, log }: Space) {
  return {
    name,
    state: saveState(state),
    snapshots: [...snapshots],
    undo: undo === undefined ? null : saveUndo(undo),
    requests,
    conduct: conduct.save(),
    log: log.save(),
    events: log.events,
  }
}

function loadSpace(space: Space, saved: ReturnType<typeof saveSpace>) {
  const { state, snapshots, undo, requests, conduct, log, events } = saved
  space.state = loadState(state)
  space.snapshots = new Map(snapshots)
  space.undo = undo === null ? undefined : loadUndo(space, undo)
  space.requests = requests
  space.conduct.restore(conduct)
  space.log.load(log)
  space.log.events = events
}

/** In the order of the text: equal states have equal texts. */
function saveState(state: SpaceState) {
  const { unserved, settings, clock, startClock, faults, randomStreams, logins, idempotent, ownRecords, heldBytes } =
    state
  return {
    records: saveCollections(state.records),
    unserved,
    plans: [...state.plans],
    settings,
    clock,
    startClock,
    storm: state.storm ?? null,
    faults,
    accounts: state.accounts.save(),
    randomStreams,
    origins: [...state.origins],
    logins,
    idempotent,
    ownRecords,
    heldBytes,
  }
}

function loadState(saved: ReturnType<typeof saveState>): SpaceState {
  const { records, plans, storm, accounts, origins, ...plain } = saved
  return {
    ...plain,
    records: new Map(records.map(([name, one]) => [name, new Collection(one, one.indexed)])),
    plans: new Map(plans),
    storm: storm ?? undefined,
    accounts: new Accounts(accounts),
    origins: new Map(origins),
  }
}

function saveCollections(collections: Collections) {
  return Array.from(
    collections,
    ([name, collection]) => [name, { ...collection.save(), indexed: collection.indexed }] as const,
  )
}

function saveUndo({ id, verb, at, requests, keys, state, snapshots, file, conduct, log }: Undo) {
  return {
    id,
    verb,
    at,
    requests,
    keys: keys === undefined ? null : { before: saveKeys(keys.before), after: saveKeys(keys.after) },
    state: saveState(state),
    snapshots: snapshots === undefined ? null : [...snapshots],
    file: file ?? null,
    conduct: conduct?.save() ?? null,
    log: log ?? null,
  }
}

function loadUndo(space: Space, saved: ReturnType<typeof saveUndo>): Undo {
  const { keys, state, snapshots, file, conduct, log, ...facts } = saved
  return {
    ...facts,
    keys: keys === null ? undefined : { before: loadKeys(keys.before), after: loadKeys(keys.after) },
    state: loadState(state),
    snapshots: snapshots === null ? undefined : new Map(snapshots),
    file: file ?? undefined,
    conduct: conduct === null ? undefined : loadConduct(space, conduct),
    log: log ?? undefined,
    // Replicas have none.
    handlers: undefined,
  }
}

function loadConduct(space: Space, saved: SavedConduct) {
  const conduct = space.openConduct()
  conduct.restore(saved)
  return conduct
}

function saveKeys({ stored, valid }: Keys) {
  return { stored: [...stored.values()], valid: [...valid.values()] }
}

function loadKeys({ stored, valid }: { stored: readonly ApiKey[]; valid: readonly ApiKey[] }): Keys {
  return { stored: byKey(stored), valid: byKey(valid) }
}
