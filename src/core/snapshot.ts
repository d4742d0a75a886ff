import type { Account } from '../domain/callers.js'
import { clockAt } from '../domain/clock.js'
import { armFault } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import { RANDOM_STREAMS, SNAPSHOT_VERSION, type Snapshot } from '../domain/snapshot.js'
import type { EpochMs } from '../domain/time.js'
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

export function takeSnapshot(space: Space, wall: EpochMs): Snapshot {
  const { settings, storm, faults, randomStreams } = space
  return {
    version: SNAPSHOT_VERSION,
    state: space.state(),
    settings,
    clock: { now: space.now(wall), frozen: space.clock.kind === 'frozen' },
    storm: storm ?? null,
    faults: faults.map(({ rule, left }) => ({ rule, left: left ?? null })),
    plans: [...space.plans].flatMap(([key, plan]) => {
      const name = space.labelOfKey(key)
      return name === undefined ? [] : [{ name, plan }]
    }),
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

/**
 * Restores a space from a snapshot, including its clock. The store comes first, so that a failed write changes nothing.
 *
 * Keys belong to the sandbox: one added since is still there, one removed is not. Their plans and bans are restored.
 *
 * @source docs/behaviour.md, "Snapshots"
 */
export async function restoreSnapshot(space: Space, snapshot: Snapshot, wall: EpochMs): Promise<void> {
  const plans = plansIn(space, snapshot)
  const state = { ...snapshot.state, keys: space.storedKeys(plans) }
  await space.keep({ kind: 'replaced', state })
  space.replaceState(state)
  space.setPlans(plans)
  space.settings = snapshot.settings
  space.setClock(clockAt(snapshot.clock.now, snapshot.clock.frozen, wall), wall)
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

/** The plans in a snapshot, of those keys that are still there. Those of earlier releases have them with the keys that were stored. */
function plansIn(space: Space, { plans, state }: Snapshot): ReadonlyMap<string, PlanName> {
  const named = plans ?? state.keys.flatMap(({ key, plan }) => (plan === undefined ? [] : [{ name: key, plan }]))
  return new Map(
    named.flatMap(({ name, plan }) => {
      const apiKey = space.findKey(name)
      return apiKey === undefined ? [] : [[apiKey.key, plan] as const]
    }),
  )
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
