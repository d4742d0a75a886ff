import type { Account } from '../domain/callers.js'
import { clockAt } from '../domain/clock.js'
import { armFault } from '../domain/faults.js'
import { RANDOM_STREAMS, SNAPSHOT_VERSION, type Snapshot } from '../domain/snapshot.js'
import type { Space } from './space.js'

/** Where snapshots of one space are kept. */
export interface SnapshotStore {
  names(): Promise<readonly string[]>
  put(name: string, snapshot: Snapshot): Promise<void>
  /** Undefined if there is none with this name. */
  get(name: string): Promise<Snapshot | undefined>
  /** @returns whether there was one */
  remove(name: string): Promise<boolean>
}

export function takeSnapshot(space: Space): Snapshot {
  const { settings, storm, faults, randomStreams } = space
  return {
    version: SNAPSHOT_VERSION,
    state: space.state(),
    settings,
    clock: { now: space.now(), frozen: space.clock.kind === 'frozen' },
    storm: storm ?? null,
    faults: faults.map(({ rule, left }) => ({ rule, left: left ?? null })),
    accounts: [...space.accounts.entries()].flatMap(({ kind, name, account: { usage, bans } }) => {
      const shown = kind === 'key' ? space.labelOfKey(name) : name
      return shown === undefined ? [] : [{ kind, name: shown, usage, bans }]
    }),
    dice: {
      storm: randomStreams.storm.state,
      faults: randomStreams.faults.state,
      latency: randomStreams.latency.state,
    },
  }
}

/** Restores a space from a snapshot, including its clock. The store comes first, so that a failed write changes nothing. */
export async function restoreSnapshot(space: Space, snapshot: Snapshot): Promise<void> {
  await space.keep({ kind: 'replaced', state: snapshot.state })
  space.replaceState(snapshot.state)
  space.settings = snapshot.settings
  space.clock = clockAt(snapshot.clock.now, snapshot.clock.frozen, space.shared.systemClock.wall())
  space.storm = snapshot.storm ?? undefined
  space.faults = snapshot.faults.map(({ rule, left }) => ({ ...armFault(rule), left: left ?? undefined }))
  space.accounts.clear()
  for (const { kind, name, usage, bans } of snapshot.accounts) {
    const key = kind === 'key' ? space.findKey(name)?.key : name
    // A key that is no longer given at the start is none any more.
    if (key === undefined) continue
    const account: Account = kind === 'key' ? space.accounts.ofKey(key) : space.accounts.ofStranger(key)
    account.usage = usage
    account.bans = bans
  }
  for (const name of RANDOM_STREAMS) space.randomStreams[name].state = snapshot.dice[name]
}

/** Keeps snapshots in memory, for spaces that exist only there. */
export function memorySnapshots(): SnapshotStore {
  const snapshots = new Map<string, Snapshot>()
  return {
    names: async () => [...snapshots.keys()].sort(),
    put: async (name, snapshot) => void snapshots.set(name, snapshot),
    get: async (name) => snapshots.get(name),
    remove: async (name) => snapshots.delete(name),
  }
}
