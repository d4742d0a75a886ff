import { activeBan } from '../domain/ban.js'
import type { ApiKey, PlanName } from '../domain/keys.js'
import { viewWindow, type WindowName } from '../domain/quota.js'
import { type SettingsView, settingsView } from '../options/settings-view.js'
import type { Spaces } from '../space/spaces.js'
import type { World } from '../space/world.js'
import { type ClockView, clockView } from './verbs/clock.js'
import { type FaultView, faultViews } from './verbs/faults.js'
import { type StormView, stormView } from './verbs/storm.js'

/** All that a space can be asked about, in one answer. */
export interface StateView {
  /** Empty for the default space. */
  readonly space: string
  readonly settings: SettingsView
  readonly clock: ClockView
  readonly keys: readonly KeyView[]
  readonly storm: StormView | null
  readonly faults: readonly FaultView[]
  readonly counts: {
    readonly pets: number
    readonly orders: number
    readonly requests: number
    readonly spaces: number
  }
}

export interface WindowState {
  readonly limit: number
  readonly remaining: number
  /** ISO 8601, UTC; null while no request has opened the window. */
  readonly reset: string | null
}

export interface KeyView {
  readonly key: string
  readonly plan: PlanName
  readonly always: 'limited' | 'banned' | 'revoked' | null
  readonly minute: WindowState
  readonly day: WindowState
  readonly ban: { readonly until: string } | null
}

export function readState(world: World, spaces: Spaces): StateView {
  return {
    space: world.name,
    settings: settingsView(world.settings),
    clock: clockView(world),
    keys: [...world.keys.values()].map((key) => keyView(world, key)),
    storm: stormView(world),
    faults: faultViews(world),
    counts: {
      pets: world.pets.size,
      orders: world.orders.length,
      requests: world.log.total,
      spaces: spaces.names().length,
    },
  }
}

/** A key with what is left of its quotas, and its ban. */
export function keyView(world: World, apiKey: ApiKey): KeyView {
  const now = world.now()
  const { usage, bans } = world.accounts.ofKey(apiKey.key)
  const limits = world.limitsOf(apiKey)
  const window = (name: WindowName, limit: number): WindowState => {
    const { remaining, resetAt } = viewWindow(name, usage[name], limit, now)
    const isSpent = name === 'minute' && apiKey.always === 'limited'
    return { limit, remaining: isSpent ? 0 : remaining, reset: remaining === limit ? null : iso(resetAt) }
  }
  const until = apiKey.always === 'banned' ? now + world.settings.banDuration : activeBan(bans, now)?.until
  return {
    key: apiKey.key,
    plan: world.planOf(apiKey),
    always: apiKey.always ?? null,
    minute: window('minute', limits.perMinute),
    day: window('day', limits.perDay),
    ban: until === undefined ? null : { until: iso(until) },
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
