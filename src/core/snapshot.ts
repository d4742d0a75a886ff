import type { Account } from '../domain/callers.js'
import { clockAt } from '../domain/clock.js'
import { armFault } from '../domain/faults.js'
import { DICE, SNAPSHOT_VERSION, type Snapshot } from '../domain/snapshot.js'
import type { World } from './space.js'

/** Where snapshots of one space are kept. */
export interface Shelf {
  names(): Promise<readonly string[]>
  put(name: string, snapshot: Snapshot): Promise<void>
  /** Undefined if there is none with this name. */
  get(name: string): Promise<Snapshot | undefined>
  /** @returns whether there was one */
  remove(name: string): Promise<boolean>
}

export function takeSnapshot(world: World): Snapshot {
  const { settings, storm, faults, dice } = world
  return {
    version: SNAPSHOT_VERSION,
    state: world.state(),
    settings,
    clock: { now: world.now(), frozen: world.clock.kind === 'frozen' },
    storm: storm ?? null,
    faults: faults.map(({ rule, left }) => ({ rule, left: left ?? null })),
    accounts: [...world.accounts.entries()].flatMap(({ kind, name, account: { usage, bans } }) => {
      const shown = kind === 'key' ? world.labelOfKey(name) : name
      return shown === undefined ? [] : [{ kind, name: shown, usage, bans }]
    }),
    dice: { storm: dice.storm.state, faults: dice.faults.state, latency: dice.latency.state },
  }
}

/** Restores a space from a snapshot, including its clock. The store comes first, so that a failed write changes nothing. */
export async function restoreSnapshot(world: World, snapshot: Snapshot): Promise<void> {
  await world.keep({ kind: 'replaced', state: snapshot.state })
  world.replaceState(snapshot.state)
  world.settings = snapshot.settings
  world.clock = clockAt(snapshot.clock.now, snapshot.clock.frozen, world.surroundings.systemClock.wall())
  world.storm = snapshot.storm ?? undefined
  world.faults = snapshot.faults.map(({ rule, left }) => ({ ...armFault(rule), left: left ?? undefined }))
  world.accounts.clear()
  for (const { kind, name, usage, bans } of snapshot.accounts) {
    const key = kind === 'key' ? world.findKey(name)?.key : name
    // A key that is no longer given at the start is none any more.
    if (key === undefined) continue
    const account: Account = kind === 'key' ? world.accounts.ofKey(key) : world.accounts.ofStranger(key)
    account.usage = usage
    account.bans = bans
  }
  for (const name of DICE) world.dice[name].state = snapshot.dice[name]
}

/** Keeps snapshots in memory, for spaces that exist only there. */
export function memoryShelf(): Shelf {
  const snapshots = new Map<string, Snapshot>()
  return {
    names: async () => [...snapshots.keys()].sort(),
    put: async (name, snapshot) => void snapshots.set(name, snapshot),
    get: async (name) => snapshots.get(name),
    remove: async (name) => snapshots.delete(name),
  }
}
