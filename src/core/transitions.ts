import type { Contract } from '../contract/contract.js'
import { banFor, NO_BAN_RECORD } from '../domain/ban.js'
import { armFaults, type FaultRule } from '../domain/faults.js'
import { type Account, type ApiKey, DEFAULT_KEY } from '../domain/keys.js'
import { countUsed } from '../domain/quota.js'
import type { Change, SpaceStart } from '../domain/state.js'
import type { RunningStorm, Storm } from '../domain/storm.js'
import { type ClockState, type DurationMs, type EpochMs, readClock } from '../domain/time.js'
import type { AccountsView } from './accounts.js'
import { currentLimits, type Keyring } from './keyring.js'
import { isEqual, type SpaceState } from './space-state.js'

/** Parts of a state that a change replaces. */
export type NextState = Partial<SpaceState>

/** If the clock goes back, whatever began in the time that it goes back is over for good. @source docs/behaviour.md, "The clock" */
export function turnClock(
  state: Pick<SpaceState, 'clock' | 'accounts' | 'storm' | 'idempotent'>,
  clock: ClockState,
  wall: EpochMs,
): NextState {
  const before = readClock(state.clock, wall)
  const now = readClock(clock, wall)
  if (now >= before) return { clock }
  const { accounts, storm } = state
  const isOver = storm !== undefined && storm.startedAt > now
  const idempotent = state.idempotent.filter(({ at }) => at <= now)
  return { clock, accounts: accounts.withoutFuture(before, now, wall), storm: isOver ? undefined : storm, idempotent }
}

/** @param requests to the space so far */
export function startStorm(storm: Storm, startedAt: EpochMs, requests: number): RunningStorm {
  return { ...storm, startedAt, afterRequests: requests }
}

/** Rules that stay keep their ids and their remaining uses. */
export function changeFaults(
  { faults }: Pick<SpaceState, 'faults'>,
  rules: readonly FaultRule[],
  requests: number,
): Pick<SpaceState, 'faults'> {
  return {
    faults: armFaults(
      rules.map((rule) => ({ rule })),
      faults,
      requests,
    ),
  }
}

export function addFault({ faults }: Pick<SpaceState, 'faults'>, rule: FaultRule, requests: number): NextState {
  return { faults: armFaults([...faults, { rule }], faults, requests) }
}

/** Applies changed start settings, storm and faults. Clock, quotas and bans change with the next reset. */
export function startAs(
  state: Pick<SpaceState, 'faults'>,
  before: SpaceStart,
  start: SpaceStart,
  now: EpochMs,
  requests: number,
): NextState {
  return {
    ...(!isEqual(before.settings, start.settings) && { settings: start.settings }),
    ...(!isEqual(before.storm, start.storm) && { storm: start.storm && startStorm(start.storm, now, requests) }),
    ...(!isEqual(before.faults, start.faults) && changeFaults(state, start.faults, requests)),
  }
}

/** @param bans by label or key */
export function banKeys(
  accounts: AccountsView,
  keys: Keyring,
  bans: Readonly<Record<string, DurationMs>>,
  now: EpochMs,
  requests: number,
): AccountsView {
  const banned = Object.entries(bans).map(
    ([name, duration]) => [keys.find(name)?.key ?? name, { bans: banFor(duration, now, requests) }] as const,
  )
  return accounts.withKeys(new Map(banned))
}

/**
 * Without a ban it returns the same accounts: a copy would count as a change, with an undo. A ban that is over is one: the
 * clock may go back.
 */
export function unbanKey(accounts: AccountsView, key: string): AccountsView {
  return accounts.ofKey(key).bans.ban === undefined
    ? accounts
    : accounts.withKeys(new Map([[key, { bans: NO_BAN_RECORD }]]))
}

/** Opens windows as if this many requests had been charged at an instant. */
export function useUp(
  state: Pick<SpaceState, 'accounts' | 'settings' | 'plans'>,
  { contract, keys }: { readonly contract: Contract; readonly keys: Keyring },
  used: SpaceStart['used'],
  openedAt: EpochMs,
): AccountsView {
  const usedUp = new Map<string, Pick<Account, 'usage'>>()
  for (const [name, { perMinute, perDay }] of Object.entries(used)) {
    const apiKey = keys.find(name)
    const key = apiKey?.key ?? name
    const limits = currentLimits(contract, apiKey, state)
    const { usage } = usedUp.get(key) ?? state.accounts.ofKey(key)
    usedUp.set(key, {
      usage: {
        ...usage,
        ...(perMinute === undefined ? {} : { minute: { openedAt, used: countUsed(perMinute, limits.perMinute) } }),
        ...(perDay === undefined ? {} : { day: { openedAt, used: countUsed(perDay, limits.perDay) } }),
      },
    })
  }
  return state.accounts.withKeys(usedUp)
}

/** Moves a key to another plan: the change of the state, and what the store keeps. */
export function movePlan(
  { settings, plans }: Pick<SpaceState, 'settings' | 'plans'>,
  { stored }: Pick<Keyring, 'stored'>,
  apiKey: ApiKey,
  plan: string,
): readonly [NextState, readonly Change[]] {
  // A setting, so that a reset restores it.
  if (apiKey.key === DEFAULT_KEY) return [{ settings: { ...settings, plan } }, []]
  const next = { plans: new Map(plans).set(apiKey.key, plan) }
  return [next, stored.has(apiKey.key) ? [{ kind: 'key', key: { ...apiKey, plan } }] : []]
}

/** Forgets plan, usage, bans and idempotency keys that a key had before it was removed. */
export function forgetKey({ accounts, plans, idempotent }: SpaceState, { key, label = key }: ApiKey): NextState {
  return {
    ...(idempotent.some(({ by }) => by === label) && { idempotent: idempotent.filter(({ by }) => by !== label) }),
    ...(accounts.has(key) && { accounts: accounts.withoutKey(key) }),
    ...(plans.has(key) && { plans: new Map([...plans].filter(([other]) => other !== key)) }),
  }
}
