import { isStateful } from '../contract/resource-data.js'
import type { Space } from '../core/space.js'
import { type Spaces, UNDO_FOR_MS } from '../core/spaces.js'
import { activeBan } from '../domain/ban.js'
import { type ApiKey, keyLabel } from '../domain/keys.js'
import { isOpen, viewWindow, type WindowName } from '../domain/quota.js'
import type { RunningStorm } from '../domain/storm.js'
import { type EpochMs, formatDuration } from '../domain/time.js'
import { settingsView } from '../options/settings.js'
import { listOverrides } from './overrides.js'
import type { ClockView, FaultView, KeyView, StateView, StormView, WindowState } from './views.js'

export function readState(space: Space, spaces: Spaces, wall: EpochMs): StateView {
  const { basePath, realService } = space.shared
  const { operations, keyHeaders } = space.shared.contract
  const undo = spaces.findUndo(space, wall)
  return {
    space: space.name,
    basePath,
    keyHeader: keyHeaders[0],
    settings: settingsView(space.settings),
    clock: clockView(space, wall),
    keys: [...space.keys.values()].map((key) => keyView(space, key, wall)),
    storm: space.storm === undefined ? null : stormView(space.storm),
    faults: faultViews(space),
    overrides: listOverrides(space, wall),
    undo: undo === undefined ? null : { id: undo.id, verb: undo.verb, until: iso(undo.at + UNDO_FOR_MS) },
    operations: {
      stateful: operations.filter(isStateful).map(({ id }) => id),
      mocked: operations
        .filter((operation) => !isStateful(operation))
        .map(({ id, isMocked, whyMocked }) => ({ operation: id, reason: isMocked ? '--mock' : (whyMocked ?? '') })),
    },
    upstream: realService === undefined ? null : { baseUrl: realService.baseUrl, ...space.drift.upstream() },
    counts: {
      pets: space.records.get('pets')?.size ?? 0,
      orders: space.records.get('orders')?.size ?? 0,
      requests: space.log.total,
      spaces: spaces.names().length,
    },
  }
}

export function clockView(space: Space, wall: EpochMs): ClockView {
  return { now: iso(space.now(wall)), frozen: space.clock.kind === 'frozen' }
}

export function stormView({ rate, for: length, every, retryAfter, startedAt }: RunningStorm): StormView {
  const text = (duration: number | undefined) => (duration === undefined ? null : formatDuration(duration))
  return { rate, for: text(length), every: text(every), retryAfter: text(retryAfter), startedAt: iso(startedAt) }
}

export function faultViews({ faults }: Space): readonly FaultView[] {
  return faults.map(({ rule, left }) => ({ ...rule, left }))
}

export function keyView(space: Space, apiKey: ApiKey, wall: EpochMs): KeyView {
  const now = space.now(wall)
  const { usage, bans } = space.accounts.view(apiKey.key)
  const limits = space.currentLimits(apiKey)
  const window = (name: WindowName, limit: number): WindowState => {
    const { remaining, resetAt } = viewWindow(name, usage[name], limit, now)
    const isSpent = name === 'minute' && apiKey.always === 'limited'
    return { limit, remaining: isSpent ? 0 : remaining, reset: isOpen(name, usage[name], now) ? iso(resetAt) : null }
  }
  const until = apiKey.always === 'banned' ? now + space.settings.banDuration : activeBan(bans, now)?.until
  return {
    key: keyLabel(apiKey),
    secret: keyLabel(apiKey) !== apiKey.key,
    plan: space.currentPlan(apiKey),
    always: apiKey.always ?? null,
    minute: window('minute', limits.perMinute),
    day: window('day', limits.perDay),
    ban: until === undefined ? null : { until: iso(until) },
  }
}

function iso(at: EpochMs): string {
  return new Date(at).toISOString()
}
