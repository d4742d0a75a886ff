import type { Contract } from '../contract/contract.js'
import { stringifyJson } from '../contract/json.js'
import type { Space } from '../core/space.js'
import { isEqual, switchId } from '../core/space-state.js'
import { activeBan } from '../domain/ban.js'
import { formatFaultRule } from '../domain/faults.js'
import { type ApiKey, DEFAULT_KEY, keyLabel } from '../domain/keys.js'
import { planNames, startPlan } from '../domain/plans.js'
import { SETTING_NAMES, SETTINGS, type SettingName } from '../domain/settings.js'
import { hasStorm, type Storm } from '../domain/storm.js'
import { type ClockState, DAY_MS, type EpochMs, formatOffset, HOUR_MS, isoText } from '../domain/time.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { toKebabCase } from '../options/letter-case.js'
import type { SettingsView } from '../options/options.js'
import { settingsView, settingText, standardSettings } from '../options/settings.js'
import type { ActiveView } from './views.js'

/**
 * Every switch that makes a response differ from the documented service, and the start options that are switched off.
 * @source docs/control-api.md, "Active now"
 */
export function listActive(space: Space, wall: EpochMs): readonly ActiveView[] {
  return [
    ...activeStorm(space, wall),
    ...activeFaults(space),
    ...activeClock(space),
    ...activeSettings(space),
    ...[...space.keys.values()].flatMap((apiKey) => [
      ...activeBans(space, apiKey, activeBan(space.state.accounts.ofKey(apiKey.key).bans, space.now(wall))),
      ...activePlan(space, apiKey),
    ]),
    ...activeOptions(space),
  ]
}

function activeView(
  what: ActiveView['what'],
  text: string,
  {
    name = null,
    id = null,
    until,
    left = null,
    hits = null,
    origin,
    isOff = false,
  }: Partial<Omit<ActiveView, 'until'>> & {
    readonly until?: EpochMs | undefined
    readonly origin: string
  },
): ActiveView {
  return { what, name, id, text, until: until === undefined ? null : isoText(until), left, hits, origin, isOff }
}

function activeStorm(space: Space, wall: EpochMs): readonly ActiveView[] {
  const { storm } = space.state
  const { storm: start } = space.shared.start
  if (!hasStorm(storm, space.now(wall)))
    return start === undefined ? [] : [activeView('storm', stormName(start), { origin: '--storm', isOff: true })]
  const { startedAt, for: length, every } = storm
  const parts = ['rate', 'for', 'every', 'retryAfter'] as const
  const isStart = start !== undefined && parts.every((part) => storm[part] === start[part])
  return [
    activeView('storm', stormName(storm), {
      until: length === undefined || every !== undefined ? undefined : startedAt + length,
      hits: hits(space, ({ reason, at }) => reason === 'storm' && at >= startedAt),
      origin: isStart ? '--storm' : originOf(space, 'storm'),
    }),
  ]
}

/** A rule that is used up is not active. */
function activeFaults(space: Space): readonly ActiveView[] {
  const start = new Set(space.shared.start.faults.map((rule) => stringifyJson(rule)))
  return [
    ...space.state.faults
      .filter(({ left }) => left !== 0)
      .map(({ id, rule, left }) => {
        const name = formatFaultRule(rule)
        return activeView('fault', name, {
          name,
          id,
          left,
          hits: hits(space, (record) => record.ruleId === id),
          origin: start.has(stringifyJson(rule)) ? '--fault' : originOf(space, 'fault', id),
        })
      }),
    ...removedFaults(space).map(({ id, rule }) => {
      const name = formatFaultRule(rule)
      return activeView('fault', name, { name, id, origin: '--fault', isOff: true })
    }),
  ]
}

/**
 * Rules of the start. Their ids are only valid while they are removed. Of equal rules, as many are removed as the space has
 * fewer than the start.
 */
export function removedFaults({ state, shared }: Space) {
  const current = state.faults.map(({ rule }) => stringifyJson(rule))
  return shared.start.faults.flatMap((rule, index) => {
    const armed = current.indexOf(stringifyJson(rule))
    if (armed === -1) return [{ id: `start.${index + 1}`, rule, index }]
    current.splice(armed, 1)
    return []
  })
}

function activeClock(space: Space): readonly ActiveView[] {
  const { clock, startClock } = space.state
  const text = clockText(clock)
  if (text === '') return []
  const isStart = isEqual(clock, startClock)
  return [activeView('clock', text, { origin: isStart ? '--now, --freeze' : originOf(space, 'clock') })]
}

/** The number of senders does not affect responses. */
function activeSettings(space: Space): readonly ActiveView[] {
  const { contract } = space.shared
  const now = settingsView(space.state.settings)
  const start = settingsView(space.shared.start.settings)
  const standard = standardSettings(contract)
  return SETTING_NAMES.flatMap((name) => {
    if (name === 'senders' || (now[name] === standard[name] && start[name] === standard[name])) return []
    const option = `--${start[name] === false ? 'no-' : ''}${toKebabCase(name)}`
    if (now[name] === standard[name])
      return [activeView('setting', settingName(name, start[name], contract), { name, origin: option, isOff: true })]
    const counts =
      name === 'latency'
        ? ({ waitingMs, fault }: ExchangeRecord) => waitingMs > 0 && fault === undefined
        : name === 'sunset'
          ? ({ reason }: ExchangeRecord) => reason === 'sunset' || reason === 'brownout'
          : undefined
    return [
      activeView('setting', settingName(name, now[name], contract), {
        name,
        hits: counts === undefined ? null : hits(space, counts),
        origin: now[name] === start[name] ? option : originOf(space, 'setting', name),
      }),
    ]
  })
}

function activeBans(space: Space, apiKey: ApiKey, ban: ReturnType<typeof activeBan>): readonly ActiveView[] {
  if (ban === undefined) return []
  const name = keyLabel(apiKey)
  const origin = ban.byClient ? 'early requests' : originOf(space, 'ban', apiKey.key)
  const count = hits(space, ({ reason, key, at }) => reason === 'ban' && key === name && at >= ban.from)
  return [activeView('ban', `${name} banned`, { name, until: ban.until, hits: count, origin })]
}

function activePlan(space: Space, apiKey: ApiKey): readonly ActiveView[] {
  const plan = space.state.plans.get(apiKey.key)
  if (plan === undefined || plan === startPlan(space.shared.contract, apiKey)) return []
  const name = keyLabel(apiKey)
  return [activeView('plan', `${name} on ${plan}`, { name, origin: originOf(space, 'plan', apiKey.key) })]
}

/** What only a start, or a program, sets. */
function activeOptions({ name, shared }: Space): readonly ActiveView[] {
  const { contract, anyKey, reason, order, handlers } = shared
  const mocked = contract.operations.filter(({ isMocked }) => isMocked)
  const handled = new Set(['', name].flatMap((space) => [...(handlers?.get(space)?.keys() ?? [])]))
  return [
    ...mocked.map(({ id }) => activeView('option', `${id} mocked`, { origin: '--mock' })),
    ...(anyKey ? [activeView('option', 'any key is valid', { origin: '--any-key' })] : []),
    ...(reason ? [] : [activeView('option', 'no X-Sandbox-Reason', { origin: '--no-reason' })]),
    ...(order === 'newest' ? [] : [activeView('option', `${order} first`, { origin: '--order' })]),
    ...[...handled].map((operation) => activeView('option', `${operation} handled`, { origin: 'handlers' })),
  ]
}

function stormName({ rate }: Pick<Storm, 'rate'>): string {
  return `storm ${Number((rate * 100).toFixed(2))} %`
}

/** Plan and limits are those of the key `sandbox`; limits without plans, those of all keys. */
export function settingName(name: SettingName, value: SettingsView[SettingName], contract: Contract): string {
  const { kind } = SETTINGS[name]
  const text = kind === 'switch' ? (value ? 'on' : 'off') : settingText(value)
  const keys = planNames(contract).length > 0 ? DEFAULT_KEY : 'each key'
  return `${toKebabCase(name)} ${text}${kind === 'plan' || kind === 'limits' ? ` for ${keys}` : ''}`
}

/** Empty for real time. From a day on, in whole hours: `--now` with a date is some days, hours and milliseconds from it. */
function clockText(clock: ClockState): string {
  if (clock.kind === 'frozen') return `clock frozen at ${isoText(clock.at)}`
  const unit = Math.abs(clock.ahead) < DAY_MS ? 1 : HOUR_MS
  return clock.ahead === 0 ? '' : `clock ${formatOffset(Math.round(clock.ahead / unit) * unit)}`
}

/** Exchanges of the log that a switch affected. */
function hits({ log }: Pick<Space, 'log'>, isHit: (record: ExchangeRecord) => boolean): number {
  let count = 0
  for (const record of log) if (isHit(record)) count++
  return count
}

function originOf({ state: { origins } }: Space, ...of: Parameters<typeof switchId>): string {
  return origins.get(switchId(...of)) ?? 'you'
}
