import type { Space } from '../core/space.js'
import type { Spaces } from '../core/spaces.js'
import { activeBan } from '../domain/ban.js'
import { type ApiKey, labelOf } from '../domain/keys.js'
import { isOpen, viewWindow, type WindowName } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import { settingsView } from '../options/settings-view.js'
import { deviationsOf } from './deviations.js'
import { clockView } from './verbs/clock.js'
import { faultViews } from './verbs/faults.js'
import { stormView } from './verbs/storm.js'
import type { KeyView, StateView, WindowState } from './views.js'

export function readState(space: Space, spaces: Spaces, wall: EpochMs): StateView {
  const { basePath, realService } = space.shared
  return {
    space: space.name,
    basePath,
    settings: settingsView(space.settings),
    clock: clockView(space, wall),
    keys: [...space.keys.values()].map((key) => keyView(space, key, wall)),
    storm: stormView(space),
    faults: faultViews(space),
    deviations: deviationsOf(space, wall),
    upstream: realService === undefined ? null : { baseUrl: realService.baseUrl, ...space.drift.upstream() },
    counts: {
      pets: space.pets.size,
      orders: space.orders.length,
      requests: space.log.total,
      spaces: spaces.names().length,
    },
  }
}

/** A key with the rest of its quotas, and its ban. */
export function keyView(space: Space, apiKey: ApiKey, wall: EpochMs): KeyView {
  const now = space.now(wall)
  const { usage, bans } = space.accounts.view(apiKey.key)
  const limits = space.limitsOf(apiKey)
  const window = (name: WindowName, limit: number): WindowState => {
    const { remaining, resetAt } = viewWindow(name, usage[name], limit, now)
    const isSpent = name === 'minute' && apiKey.always === 'limited'
    return { limit, remaining: isSpent ? 0 : remaining, reset: isOpen(name, usage[name], now) ? iso(resetAt) : null }
  }
  const until = apiKey.always === 'banned' ? now + space.settings.banDuration : activeBan(bans, now)?.until
  return {
    key: labelOf(apiKey),
    secret: labelOf(apiKey) !== apiKey.key,
    plan: space.planOf(apiKey),
    always: apiKey.always ?? null,
    minute: window('minute', limits.perMinute),
    day: window('day', limits.perDay),
    ban: until === undefined ? null : { until: iso(until) },
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
