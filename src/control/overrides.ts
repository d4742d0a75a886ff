import { stringifyJson } from '../contract/json.js'
import type { Space } from '../core/space.js'
import { activeBan } from '../domain/ban.js'
import { type ApiKey, keyLabel, startPlan } from '../domain/keys.js'
import { counted } from '../domain/numbers.js'
import { SETTING_NAMES, SETTINGS, type SettingName } from '../domain/settings.js'
import { isStormActive } from '../domain/storm.js'
import { DAY_MS, type EpochMs, HOUR_MS, MINUTE_MS, readClock, SECOND_MS } from '../domain/time.js'
import { toKebabCase } from '../options/letter-case.js'
import { changeSettings, settingsView, settingText } from '../options/settings.js'
import type { OverrideView } from './views.js'

/**
 * Changes from the start configuration that affect responses, except data changed by clients (pets, quotas).
 * @source docs/control-api.md, "Overrides"
 */
export function listOverrides(space: Space, wall: EpochMs): readonly OverrideView[] {
  return [
    ...stormOverride(space, wall),
    ...faultOverride(space),
    ...clockOverride(space, wall),
    ...settingOverrides(space),
    ...[...space.keys.values()].flatMap((apiKey) => keyOverrides(space, apiKey, wall)),
  ]
}

/** @returns the number of overrides cleared */
export function clearOverrides(
  space: Space,
  wall: EpochMs,
  only: { readonly what: OverrideView['what']; readonly name?: string | undefined } | undefined,
): number {
  // The clock comes first: resetting it may reactivate a storm or a ban.
  if (only === undefined && clockOverride(space, wall).length > 0) {
    space.setClock(space.startClock, wall)
    return 1 + clearOverrides(space, wall, only)
  }
  const found = listOverrides(space, wall).filter(
    ({ what, name }) => only === undefined || (what === only.what && (only.name === undefined || name === only.name)),
  )
  for (const { what, name } of found) clear(space, wall, what, name ?? '')
  return found.length
}

function clear(space: Space, wall: EpochMs, what: OverrideView['what'], name: string): void {
  const { start } = space.shared
  const apiKey = space.findKey(name)
  if (what === 'storm' && start.storm !== undefined) space.startStorm(start.storm, space.now(wall))
  else if (what === 'storm') space.stopStorm()
  else if (what === 'faults') space.setFaults(start.faults)
  else if (what === 'clock') space.setClock(space.startClock, wall)
  else if (what === 'setting')
    space.changeSettings(changeSettings(space.settings, { [name]: start.settings[name as SettingName] }))
  else if (apiKey !== undefined && what === 'ban') space.unbanKey(apiKey.key)
  else if (apiKey !== undefined) space.movePlan(apiKey, startPlan(apiKey))
}

function override(
  what: OverrideView['what'],
  text: string,
  { name, until }: { readonly name?: string; readonly until?: EpochMs | undefined } = {},
): OverrideView {
  return { what, name: name ?? null, text, until: until === undefined ? null : new Date(until).toISOString() }
}

function stormOverride(space: Space, wall: EpochMs): readonly OverrideView[] {
  const { storm } = space
  const start = space.shared.start.storm
  const isOver = storm === undefined || (storm.every === undefined && !isStormActive(storm, space.now(wall)))
  const parts = ['rate', 'for', 'every', 'retryAfter'] as const
  if (start === undefined ? isOver : parts.every((part) => storm?.[part] === start[part])) return []
  if (isOver || storm === undefined) return [override('storm', 'no storm')]
  const { rate, startedAt, for: length, every } = storm
  const until = length === undefined || every !== undefined ? undefined : startedAt + length
  return [override('storm', `storm ${Number((rate * 100).toFixed(2))} %`, { until })]
}

function faultOverride({ faults, shared: { start } }: Space): readonly OverrideView[] {
  const atStart = start.faults.map((rule) => stringifyJson(rule))
  // A used-up rule from the start configuration is no change. A used-up rule that was added later has ended.
  const compared = faults.map(({ rule, left }) => ({ rule: stringifyJson(rule), left }))
  const current = compared.filter(({ rule, left }) => left !== 0 || atStart.includes(rule))
  if (current.map(({ rule }) => rule).join() === atStart.join()) return []
  const count = faults.filter(({ left }) => left !== 0).length
  if (count === 0 && atStart.length === 0) return []
  return [override('faults', count === 0 ? 'no faults' : counted(count, 'fault'))]
}

function clockOverride({ clock, startClock }: Space, wall: EpochMs): readonly OverrideView[] {
  const ahead = readClock(clock, wall) - readClock(startClock, wall)
  const [isFrozen, wasFrozen] = [clock.kind === 'frozen', startClock.kind === 'frozen']
  const isMoved = isFrozen && !wasFrozen ? Math.abs(ahead) >= SECOND_MS : ahead !== 0
  const words = [
    ...(isMoved ? [spanText(ahead)] : []),
    ...(isFrozen === wasFrozen ? [] : [isFrozen ? 'frozen' : 'running']),
  ]
  return words.length === 0 ? [] : [override('clock', `clock ${words.join(', ')}`)]
}

function settingOverrides({ settings, shared: { start } }: Space): readonly OverrideView[] {
  const now = settingsView(settings)
  const then = settingsView(start.settings)
  return SETTING_NAMES.filter((name) => now[name] !== then[name]).map((name) => {
    const text = SETTINGS[name].kind === 'switch' ? (now[name] ? 'on' : 'off') : settingText(now[name])
    return override('setting', `${toKebabCase(name)} ${text}`, { name })
  })
}

function keyOverrides(space: Space, apiKey: ApiKey, wall: EpochMs): readonly OverrideView[] {
  const name = keyLabel(apiKey)
  const ban = activeBan(space.accounts.view(apiKey.key).bans, space.now(wall))
  const plan = space.plans.get(apiKey.key)
  return [
    ...(ban === undefined ? [] : [override('ban', `${name} banned`, { name, until: ban.until })]),
    ...(plan === undefined || plan === startPlan(apiKey) ? [] : [override('plan', `${name} on ${plan}`, { name })]),
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
