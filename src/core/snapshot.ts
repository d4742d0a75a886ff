import { revivedBanRecord } from '../domain/ban.js'
import type { PlanName } from '../domain/keys.js'
import type { Snapshot } from '../domain/snapshot.js'
import type { EpochMs } from '../domain/time.js'
import { Accounts } from './accounts.js'

/** Where snapshots of a space are kept outside the sandbox. */
export interface SnapshotStore {
  names(): Promise<readonly string[]>
  put(name: string, snapshot: Snapshot): Promise<void>
  /** Undefined if there is none with this name. */
  get(name: string): Promise<Snapshot | undefined>
  /** @returns whether there was one */
  remove(name: string): Promise<boolean>
}

/** Finds the key that a label stands for; undefined where it is none any more. */
type FindKey = (name: string) => string | undefined

/** The plans in a snapshot, of those keys that are still there. Those of earlier releases have them with the keys that were stored. */
export function plansIn({ plans, state }: Snapshot, findKey: FindKey): ReadonlyMap<string, PlanName> {
  const named = plans ?? state.keys.flatMap(({ key, plan }) => (plan === undefined ? [] : [{ name: key, plan }]))
  return new Map(
    named.flatMap(({ name, plan }) => {
      const key = findKey(name)
      return key === undefined ? [] : [[key, plan] as const]
    }),
  )
}

/** The accounts in a snapshot, of strangers and of those keys that are still there. */
export function accountsIn({ accounts, clock }: Snapshot, findKey: FindKey, wall: EpochMs): Accounts {
  const held = new Accounts()
  for (const { kind, name, usage, bans } of accounts) {
    const key = kind === 'key' ? findKey(name) : name
    if (key !== undefined) held.set(kind, key, { usage, bans: revivedBanRecord(bans, clock.now, wall) })
  }
  return held
}
