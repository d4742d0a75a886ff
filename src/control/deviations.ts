import { stringifyJson } from '../contract/json.js'
import type { Space } from '../core/space.js'
import { activeBan } from '../domain/ban.js'
import { readClock } from '../domain/clock.js'
import type { FaultRule } from '../domain/faults.js'
import { type ApiKey, labelOf, startPlan } from '../domain/keys.js'
import { SETTING_NAMES, SETTINGS, type SettingName } from '../domain/settings.js'
import { blows, type RunningStorm, type Storm } from '../domain/storm.js'
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { changeSettings } from '../options/settings.js'
import { settingName, settingsView, settingText } from '../options/settings-view.js'
import type { DeviationView } from './views.js'

/**
 * Everything that is not as the space began: what was bent since, and decides
 * answers. What clients have changed (pets, quotas) is no deviation.
 *
 * @source docs/control-api.md, "Deviations"
 */
export function deviationsOf(space: Space, wall: EpochMs): readonly DeviationView[] {
  return [
    ...stormDeviation(space, wall),
    ...faultDeviation(space),
    ...clockDeviation(space, wall),
    ...settingDeviations(space),
    ...[...space.keys.values()].flatMap((apiKey) => keyDeviations(space, apiKey, wall)),
  ]
}

/** Straightens what deviates: all of it, or only this. @returns how much there was */
export function straighten(
  space: Space,
  wall: EpochMs,
  only: Pick<DeviationView, 'what' | 'name'> | undefined,
): number {
  // First of all: once it is back, a storm or a ban that was over goes on.
  if (only === undefined && clockDeviation(space, wall).length > 0) {
    space.setClock(space.startClock, wall)
    return 1 + straighten(space, wall, only)
  }
  const found = deviationsOf(space, wall).filter(
    ({ what, name }) => only === undefined || (what === only.what && name === only.name),
  )
  const { start } = space.shared
  for (const { what, name } of found) {
    const apiKey = name === null ? undefined : space.findKey(name)
    if (what === 'storm') {
      if (start.storm === undefined) space.stopStorm()
      else space.startStorm(start.storm, space.now(wall))
    } else if (what === 'faults') space.setFaults(start.faults)
    else if (what === 'clock') space.setClock(space.startClock, wall)
    else if (what === 'setting' && isSetting(name))
      space.changeSettings(changeSettings(space.settings, { [name]: start.settings[name] }))
    else if (apiKey !== undefined && what === 'ban') space.unbanKey(apiKey.key)
    else if (apiKey !== undefined) space.movePlan(apiKey, startPlan(apiKey))
  }
  return found.length
}

function isSetting(name: string | null): name is SettingName {
  return name !== null && Object.hasOwn(SETTINGS, name)
}

function stormDeviation(space: Space, wall: EpochMs): readonly DeviationView[] {
  const { storm } = space
  const start = space.shared.start.storm
  const now = space.now(wall)
  const isOver = storm === undefined || (storm.every === undefined && !blows(storm, now))
  if (start === undefined ? isOver : storm !== undefined && isSameStorm(storm, start)) return []
  if (isOver || storm === undefined) return [{ what: 'storm', name: null, text: 'no storm', until: null }]
  const rate = `${Number((storm.rate * 100).toFixed(2))} %`
  return [{ what: 'storm', name: null, text: `storm ${rate}`, until: endOf(storm) }]
}

function endOf({ startedAt, for: length, every }: RunningStorm): string | null {
  return length === undefined || every !== undefined ? null : iso(startedAt + length)
}

function isSameStorm(one: Storm, other: Storm): boolean {
  return (
    one.rate === other.rate && one.for === other.for && one.every === other.every && one.retryAfter === other.retryAfter
  )
}

function faultDeviation({ faults, shared: { start } }: Space): readonly DeviationView[] {
  const rules = faults.filter(({ left }) => left !== 0).map(({ rule }) => rule)
  if (textOf(faults.map(({ rule }) => rule)) === textOf(start.faults)) return []
  if (rules.length === 0 && start.faults.length === 0) return []
  const text = rules.length === 0 ? 'no faults' : rules.length === 1 ? '1 fault' : `${rules.length} faults`
  return [{ what: 'faults', name: null, text, until: null }]
}

function textOf(rules: readonly FaultRule[]): string {
  return stringifyJson(rules)
}

function clockDeviation({ clock, startClock }: Space, wall: EpochMs): readonly DeviationView[] {
  const ahead = readClock(clock, wall) - readClock(startClock, wall)
  const isFrozen = clock.kind === 'frozen'
  const isMoved = isFrozen && startClock.kind !== 'frozen' ? Math.abs(ahead) >= SECOND_MS : ahead !== 0
  const words = [
    ...(isMoved ? [spanText(ahead)] : []),
    ...(isFrozen === (startClock.kind === 'frozen') ? [] : [isFrozen ? 'frozen' : 'running']),
  ]
  return words.length === 0 ? [] : [{ what: 'clock', name: null, text: `clock ${words.join(', ')}`, until: null }]
}

function settingDeviations({ settings, shared: { start } }: Space): readonly DeviationView[] {
  const now = settingsView(settings)
  const then = settingsView(start.settings)
  return SETTING_NAMES.filter((name) => stringifyJson(now[name]) !== stringifyJson(then[name])).map((name) => ({
    what: 'setting',
    name,
    text:
      SETTINGS[name].kind === 'switch'
        ? `${settingName(name)} ${now[name] ? 'on' : 'off'}`
        : `${settingName(name)} ${settingText(now[name])}`,
    until: null,
  }))
}

function keyDeviations(space: Space, apiKey: ApiKey, wall: EpochMs): readonly DeviationView[] {
  const name = labelOf(apiKey)
  const { bans } = space.accounts.view(apiKey.key)
  const ban = activeBan(bans, space.now(wall))
  const plan = space.plans.get(apiKey.key)
  return [
    ...(ban === undefined ? [] : [{ what: 'ban' as const, name, text: `${name} banned`, until: iso(ban.until) }]),
    ...(plan === undefined || plan === startPlan(apiKey)
      ? []
      : [{ what: 'plan' as const, name, text: `${name} on ${plan}`, until: null }]),
  ]
}

const UNITS = [
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [SECOND_MS, 's'],
  [1, 'ms'],
] as const

/** `+1 h`, `-2 d 3 h`: the two largest units. */
function spanText(milliseconds: number): string {
  let rest = Math.abs(milliseconds)
  const parts = UNITS.flatMap(([length, unit]) => {
    const count = Math.floor(rest / length)
    rest -= count * length
    return count === 0 ? [] : [`${count} ${unit}`]
  })
  return `${milliseconds < 0 ? '-' : '+'}${parts.slice(0, 2).join(' ')}`
}

function iso(at: EpochMs): string {
  return new Date(at).toISOString()
}
