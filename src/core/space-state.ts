import { stringifyJson } from '../contract/json.js'
import { activeBan } from '../domain/ban.js'
import type { ArmedFault } from '../domain/faults.js'
import type { Logins } from '../domain/logins.js'
import { SETTING_NAMES, type Settings } from '../domain/settings.js'
import type { KeptResponse, Snapshot } from '../domain/state.js'
import type { RunningStorm } from '../domain/storm.js'
import { type ClockState, type EpochMs, readClock } from '../domain/time.js'
import type { Accounts, AccountsView } from './accounts.js'
import { type Collections, shareCollections, type Unserved } from './collections.js'

/**
 * What decides the next responses of a space, apart from keys, handlers and the waits that conduct knows. It is a value,
 * and a change makes another one, except for records and accounts: the commit of a space changes them in place, and
 * copies them first if another state has them too.
 */
export interface SpaceState {
  /** By resource. */
  readonly records: Collections
  /** What the store has of resources that are not in the contract. */
  readonly unserved: Unserved
  /** Plans that keys were moved to. The plan of `sandbox` is a setting. */
  readonly plans: ReadonlyMap<string, string>
  readonly settings: Settings
  readonly clock: ClockState
  readonly startClock: ClockState
  readonly storm: RunningStorm | undefined
  readonly faults: readonly ArmedFault[]
  readonly accounts: AccountsView
  readonly randomStreams: Snapshot['dice']
  /** Who has set a switch, by `switchId`: `you`, or a scenario. */
  readonly origins: ReadonlyMap<string, string>
  readonly logins: Logins
  /** Oldest first. */
  readonly idempotent: readonly KeptResponse[]
  /** Resources whose records are no longer those of the seed. */
  readonly ownRecords: readonly string[]
  /** Bytes of fault rules, kept responses and, without a store, of records and keys, beyond the start. */
  readonly heldBytes: number
}

export const switchId = (
  kind: 'storm' | 'clock' | 'setting' | 'fault' | 'plan' | 'ban',
  /** Of a setting, the id of a rule, or a key. */
  name = '',
): string => `${kind} ${name}`

/** The origins after a verb: those of switches that it has set are its own. */
export function originsAfter(
  before: SpaceState,
  after: SpaceState,
  origin: string,
  wall: EpochMs,
): SpaceState['origins'] {
  const now = readClock(after.clock, wall)
  const bannedIn = ({ accounts }: SpaceState, key: string) => activeBan(accounts.ofKey(key).bans, now)
  const rules = new Set(before.faults.map(({ id }) => id))
  const keys = after.accounts.keys()
  const changed = [
    ...(isEqual(before.storm, after.storm) ? [] : [switchId('storm')]),
    ...(isEqual(before.clock, after.clock) ? [] : [switchId('clock')]),
    ...SETTING_NAMES.filter((name) => !isEqual(before.settings[name], after.settings[name])).map((name) =>
      switchId('setting', name),
    ),
    ...after.faults.filter(({ id }) => !rules.has(id)).map(({ id }) => switchId('fault', id)),
    ...[...after.plans].filter(([key, plan]) => before.plans.get(key) !== plan).map(([key]) => switchId('plan', key)),
    ...keys.filter((key) => !isEqual(bannedIn(before, key), bannedIn(after, key))).map((key) => switchId('ban', key)),
  ]
  const armed = new Set(after.faults.map(({ id }) => switchId('fault', id)))
  const left = [...after.origins].filter(([id]) => !id.startsWith('fault ') || armed.has(id))
  if (changed.length === 0 && left.length === after.origins.size) return after.origins
  return new Map([...left, ...changed.map((id) => [id, origin] as const)])
}

/** Part of an earlier state from now on: the next change in place copies its part first. */
export function share(state: SpaceState): void {
  shareCollections(state.records)
  ;(state.accounts as Accounts).isShared = true
}

/**
 * Whether a verb has left a state as it was. Plain parts are compared by value: after loading a checkpoint, equal parts
 * are different objects.
 */
export function isSameState(before: SpaceState, after: SpaceState): boolean {
  return (Object.keys(after) as (keyof SpaceState)[]).every(
    (part) => before[part] === after[part] || (!BY_IDENTITY.has(part) && isEqual(before[part], after[part])),
  )
}

const BY_IDENTITY: ReadonlySet<string> = new Set<keyof SpaceState>(['records', 'accounts', 'plans', 'origins'])

export function isEqual(a: unknown, b: unknown): boolean {
  return a === b || stringifyJson(a ?? null) === stringifyJson(b ?? null)
}
