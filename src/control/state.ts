import { activeBan } from '../domain/ban.js'
import type { FaultRule } from '../domain/faults.js'
import type { ApiKey, PlanName } from '../domain/keys.js'
import { viewWindow, type WindowName } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import { formatDuration } from '../domain/time.js'
import { type SettingsView, settingsView } from '../options/settings-view.js'
import type { Spaces } from '../space/spaces.js'
import type { World } from '../space/world.js'
import { type ClockView, clockView } from './clock-verbs.js'

export interface StateView {
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
  readonly always: ApiKey['always'] | null
  readonly minute: WindowState
  readonly day: WindowState
  readonly ban: { readonly until: string } | null
}

export interface StormView {
  readonly rate: number
  readonly for: string | null
  readonly every: string | null
  readonly retryAfter: string | null
  readonly startedAt: string
}

export interface FaultView extends FaultRule {
  /** How often it still happens; null is without end. */
  readonly left: number | null
}

/** All that a space can be asked about, in one answer. */
export function readState(world: World, spaces: Spaces): StateView {
  const now = world.now()
  const { storm } = world
  return {
    space: world.name,
    settings: settingsView(world.settings),
    clock: clockView(world),
    keys: [...world.keys.values()].map((key) => keyView(world, key, now)),
    storm: storm === undefined ? null : stormView(storm),
    faults: world.faults.map(({ rule, left }) => ({ ...rule, left: left ?? null })),
    counts: {
      pets: world.pets.size,
      orders: world.orders.length,
      requests: world.log.total,
      spaces: spaces.names().length,
    },
  }
}

function keyView(world: World, apiKey: ApiKey, now: EpochMs): KeyView {
  const { usage, bans } = world.accounts.ofKey(apiKey.key)
  const limits = world.limitsOf(apiKey)
  const window = (name: WindowName, limit: number): WindowState => {
    const { remaining, resetAt } = viewWindow(name, usage[name], limit, now)
    const spent = name === 'minute' && apiKey.always === 'limited'
    const untouched = remaining === limit && limit > 0
    return { limit, remaining: spent ? 0 : remaining, reset: untouched ? null : iso(resetAt) }
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

function stormView({ rate, for: length, every, retryAfter, startedAt }: NonNullable<World['storm']>): StormView {
  const text = (duration: number | undefined) => (duration === undefined ? null : formatDuration(duration))
  return { rate, for: text(length), every: text(every), retryAfter: text(retryAfter), startedAt: iso(startedAt) }
}

function iso(at: EpochMs): string {
  return new Date(at).toISOString()
}
