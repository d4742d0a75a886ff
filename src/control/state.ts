import type { World } from '../core/space.js'
import type { Spaces } from '../core/spaces.js'
import { activeBan } from '../domain/ban.js'
import { type ApiKey, labelOf } from '../domain/keys.js'
import { isOpen, viewWindow, type WindowName } from '../domain/quota.js'
import { settingsView } from '../options/settings-view.js'
import { clockView } from './verbs/clock.js'
import { faultViews } from './verbs/faults.js'
import { stormView } from './verbs/storm.js'
import type { KeyView, StateView, WindowState } from './views.js'

export function readState(world: World, spaces: Spaces): StateView {
  return {
    space: world.name,
    basePath: world.surroundings.basePath,
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

/** A key with the rest of its quotas, and its ban. */
export function keyView(world: World, apiKey: ApiKey): KeyView {
  const now = world.now()
  const { usage, bans } = world.accounts.ofKey(apiKey.key)
  const limits = world.limitsOf(apiKey)
  const window = (name: WindowName, limit: number): WindowState => {
    const { remaining, resetAt } = viewWindow(name, usage[name], limit, now)
    const isSpent = name === 'minute' && apiKey.always === 'limited'
    return { limit, remaining: isSpent ? 0 : remaining, reset: isOpen(name, usage[name], now) ? iso(resetAt) : null }
  }
  const until = apiKey.always === 'banned' ? now + world.settings.banDuration : activeBan(bans, now)?.until
  return {
    key: labelOf(apiKey),
    secret: labelOf(apiKey) !== apiKey.key,
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
