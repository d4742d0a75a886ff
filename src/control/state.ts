import { shellWord } from '../advice/curl.js'
import { stringifyJson } from '../contract/json.js'
import { isStateful } from '../contract/resource-data.js'
import { countRecords } from '../core/collections.js'
import type { Space } from '../core/space.js'
import { type Spaces, UNDO_FOR_MS } from '../core/spaces.js'
import { changeFaults, movePlan, startStorm, turnClock, unbanKey } from '../core/transitions.js'
import { activeBan } from '../domain/ban.js'
import { isStandInKey } from '../domain/default-keys.js'
import { type ArmedFault, armFaults, faultInput, remainingRule } from '../domain/faults.js'
import { sampleHeader } from '../domain/key-places.js'
import { type ApiKey, DEFAULT_KEY, keyLabel } from '../domain/keys.js'
import { counted } from '../domain/numbers.js'
import { planNames, startPlan } from '../domain/plans.js'
import { isWindowOpen, NO_LIMITS, viewWindow, type WindowName } from '../domain/quota.js'
import { SETTING_NAMES, type SettingName } from '../domain/settings.js'
import { hasStorm, type RunningStorm } from '../domain/storm.js'
import {
  type ClockState,
  ceilSeconds,
  type EpochMs,
  formatDuration,
  formatOffset,
  isoText,
  readClock,
  SECOND_MS,
} from '../domain/time.js'
import { toKebabCase } from '../options/letter-case.js'
import type { ScenarioContent } from '../options/options.js'
import { changeSettings, settingsView, standardSettings } from '../options/settings.js'
import { formatStorm } from '../options/values/faults.js'
import { loadYaml } from '../system/runtime.js'
import { listActive, removedFaults, settingName } from './active.js'
import type {
  ActiveView,
  ClockView,
  FaultView,
  KeyView,
  OverridesExport,
  OverrideView,
  StateView,
  StormView,
  WindowState,
} from './views.js'

export function readState(space: Space, spaces: Spaces, wall: EpochMs): StateView {
  const { basePath, upstream } = space.shared
  const { contract } = space.shared
  const { operations } = contract
  const undo = spaces.findUndo(space, wall)
  const active = listActive(space, wall)
  return {
    space: space.name,
    basePath,
    keyHeader: sampleHeader(contract),
    plans: planNames(contract),
    settings: settingsView(space.state.settings),
    clock: clockView(space, wall),
    keys: keyViews(space, wall),
    storm: space.state.storm === undefined ? null : stormView(space.state.storm),
    faults: faultViews(space),
    overrides: overridesIn(active, space, wall),
    active,
    undo: undo === undefined ? null : { id: undo.id, verb: undo.verb, until: isoText(undo.at + UNDO_FOR_MS) },
    operations: {
      stateful: operations.filter(isStateful).map(({ id }) => id),
      mocked: operations
        .filter((operation) => !isStateful(operation))
        .map(({ id, isMocked, whyMocked }) => ({ operation: id, reason: isMocked ? '--mock' : (whyMocked ?? '') })),
    },
    process: space.shared.process,
    upstream: upstream === undefined ? null : { baseUrl: upstream.baseUrl, writes: upstream.writes },
    counts: {
      records: countRecords(contract, space.state.records),
      requests: space.log.total,
      logged: space.log.size,
      open: space.log.open,
      spaces: spaces.names().length,
    },
  }
}

export function clockView(space: Space, wall: EpochMs): ClockView {
  return { now: isoText(space.now(wall)), frozen: space.state.clock.kind === 'frozen' }
}

export function stormView({ rate, for: length, every, retryAfter, startedAt }: RunningStorm): StormView {
  const text = (duration: number | undefined) => (duration === undefined ? null : formatDuration(duration))
  return { rate, for: text(length), every: text(every), retryAfter: text(retryAfter), startedAt: isoText(startedAt) }
}

export function faultViews({ state: { faults } }: Space): readonly FaultView[] {
  return faults.map(({ id, rule, left }) => ({ id, ...rule, left }))
}

/** Of all keys but those that are only valid because clients of the packaged contract have them. */
export function keyViews(space: Space, wall: EpochMs): readonly KeyView[] {
  const { keys, state, shared } = space
  const listed = [...keys.values()].filter(
    (apiKey) => shared.contract.isPackaged || state.accounts.has(apiKey.key) || !isStandInKey(shared.contract, apiKey),
  )
  return listed.map((apiKey) => keyView(space, apiKey, wall))
}

export function keyView(space: Space, apiKey: ApiKey, wall: EpochMs): KeyView {
  const now = space.now(wall)
  const { usage, bans } = space.state.accounts.ofKey(apiKey.key)
  const limits = space.currentLimits(apiKey)
  const isCounted = space.state.settings.rateLimit || apiKey.always === 'limited'
  const window = (name: WindowName, limit: number): WindowState | null => {
    if (limit === NO_LIMITS.perMinute) return null
    const used = isCounted ? usage[name] : undefined
    const { remaining, resetAt } = viewWindow(name, used, limit, now)
    const isSpent = name === 'minute' && apiKey.always === 'limited'
    return {
      limit,
      remaining: isSpent ? 0 : remaining,
      reset: isWindowOpen(name, used, now) ? isoText(resetAt) : null,
    }
  }
  const until = apiKey.always === 'banned' ? now + space.state.settings.banDuration : activeBan(bans, now)?.until
  return {
    key: keyLabel(apiKey),
    secret: keyLabel(apiKey) !== apiKey.key,
    plan: space.currentPlan(apiKey) ?? null,
    always: apiKey.always ?? null,
    minute: window('minute', limits.perMinute),
    day: window('day', limits.perDay),
    ban: until === undefined ? null : { until: isoText(until) },
  }
}

/**
 * Changes from the start configuration that affect responses, except data changed by clients (pets, quotas).
 * @source docs/control-api.md, "Overrides"
 */
export function listOverrides(space: Space, wall: EpochMs): readonly OverrideView[] {
  return overridesIn(listActive(space, wall), space, wall)
}

function overridesIn(active: readonly ActiveView[], space: Space, wall: EpochMs): readonly OverrideView[] {
  const isChanged = ({ isOff, origin }: ActiveView) => isOff || !origin.startsWith('--')
  const changed = (...kinds: ActiveView['what'][]) => active.filter((one) => kinds.includes(one.what) && isChanged(one))
  const count = active.filter(({ what, isOff }) => what === 'fault' && !isOff).length
  const hasFaults = changed('fault').length > 0
  return [
    ...changed('storm').map((one) => (one.isOff ? override('storm', 'no storm') : asOverride(one))),
    ...(hasFaults ? [override('faults', count === 0 ? 'no faults' : counted(count, 'fault'))] : []),
    ...clockOverride(space, wall),
    ...settingOverrides(space),
    ...changed('ban', 'plan').map(asOverride),
  ]
}

function asOverride({ what, name, text, until }: ActiveView): OverrideView {
  return { what: what as OverrideView['what'], name, text, until }
}

export function clearOverrides(
  space: Space,
  wall: EpochMs,
  only: { readonly what: OverrideView['what']; readonly name?: string | undefined } | undefined,
): number {
  // The clock comes first: resetting it may reactivate a storm or a ban.
  if (only === undefined && clockOverride(space, wall).length > 0) {
    space.commit(turnClock(space.state, space.state.startClock, wall))
    return 1 + clearOverrides(space, wall, only)
  }
  if (only?.what === 'faults' && only.name !== undefined) return restoreFault(space, only.name)
  const found = listOverrides(space, wall).filter(
    ({ what, name }) => only === undefined || (what === only.what && (only.name === undefined || name === only.name)),
  )
  for (const { what, name } of found) clear(space, wall, what, name ?? '')
  return found.length
}

function clear(space: Space, wall: EpochMs, what: OverrideView['what'], name: string): void {
  const { state, requests } = space
  const { start, keys, contract } = space.shared
  const apiKey = keys.find(name)
  if (what === 'storm') space.commit({ storm: start.storm && startStorm(start.storm, space.now(wall), requests) })
  else if (what === 'faults') space.commit(changeFaults(state, start.faults, requests))
  else if (what === 'clock') space.commit(turnClock(state, state.startClock, wall))
  else if (what === 'setting')
    space.commit({ settings: changeSettings(state.settings, { [name]: start.settings[name as SettingName] }) })
  else if (apiKey !== undefined && what === 'ban') space.commit({ accounts: unbanKey(state.accounts, apiKey.key) })
  else if (apiKey !== undefined) space.commit(...movePlan(state, keys, apiKey, startPlan(contract, apiKey) ?? ''))
}

/** Before the rules that come after it at the start, since the first match wins. @param id as of `listActive` */
function restoreFault(space: Space, id: string): number {
  const { faults }: { readonly faults: readonly Pick<ArmedFault, 'rule'>[] } = space.state
  const removed = removedFaults(space).find((fault) => fault.id === id)
  if (removed === undefined) return 0
  const texts = space.shared.start.faults.slice(0, removed.index).map((before) => stringifyJson(before))
  const place = 1 + faults.findLastIndex((fault) => texts.includes(stringifyJson(fault.rule)))
  space.commit({ faults: armFaults(faults.toSpliced(place, 0, removed), space.state.faults, space.requests) })
  return 1
}

function override(what: OverrideView['what'], text: string, name: string | null = null): OverrideView {
  return { what, name, text, until: null }
}

function clockOverride({ state: { clock, startClock } }: Space, wall: EpochMs): readonly OverrideView[] {
  const ahead = readClock(clock, wall) - readClock(startClock, wall)
  const [isFrozen, wasFrozen] = [clock.kind === 'frozen', startClock.kind === 'frozen']
  const isMoved = isFrozen && !wasFrozen ? Math.abs(ahead) >= SECOND_MS : ahead !== 0
  const words = [
    ...(isMoved ? [formatOffset(ahead)] : []),
    ...(isFrozen === wasFrozen ? [] : [isFrozen ? 'frozen' : 'running']),
  ]
  return words.length === 0 ? [] : [override('clock', `clock ${words.join(', ')}`)]
}

function settingOverrides({ state: { settings }, shared: { start, contract } }: Space): readonly OverrideView[] {
  const now = settingsView(settings)
  const then = settingsView(start.settings)
  return SETTING_NAMES.filter((name) => now[name] !== then[name]).map((name) =>
    override('setting', settingName(name, now[name], contract), name),
  )
}

/** The current settings in three forms that each start a sandbox with them. @source docs/control-api.md, "Export" */
export function exportOverrides(space: Space, wall: EpochMs): OverridesExport {
  const content = scenarioContent(space, wall)
  const inKebabCase = Object.fromEntries(Object.entries(content).map(([name, value]) => [toKebabCase(name), value]))
  return {
    content,
    scenario: loadYaml().stringify(inKebabCase, { lineWidth: 0 }),
    flags: flagsText(content),
    test: testText(content),
    notExportable: [...space.keys.values()]
      .filter(
        (apiKey) =>
          apiKey.key !== DEFAULT_KEY && space.currentPlan(apiKey) !== startPlan(space.shared.contract, apiKey),
      )
      .map((apiKey) => `the plan ${space.currentPlan(apiKey)} of the key ${keyLabel(apiKey)}`),
  }
}

/** Differences from the defaults of a sandbox without options. */
function scenarioContent(space: Space, wall: EpochMs): ScenarioContent {
  const now = space.now(wall)
  const { storm } = space.state
  const settings = settingsView(space.state.settings)
  const standard = standardSettings(space.shared.contract)
  const changed = SETTING_NAMES.filter((name) => settings[name] !== standard[name])
  const faults = space.state.faults.filter(({ left }) => left !== 0)
  const rules = faults.map((fault) => faultInput(remainingRule(fault)))
  const bans = [...space.keys.values()].flatMap((apiKey) => {
    const ban = activeBan(space.state.accounts.ofKey(apiKey.key).bans, now)
    return ban === undefined ? [] : [[keyLabel(apiKey), formatDuration(ceilSeconds(ban.until - now) * SECOND_MS)]]
  })
  return {
    ...Object.fromEntries(changed.map((name) => [name, settings[name]])),
    ...(hasStorm(storm, now) ? { storm: formatStorm(storm) } : {}),
    ...(rules.length === 0 ? {} : { fault: rules }),
    ...clockContent(space.state.clock),
    ...(bans.length === 0 ? {} : { ban: Object.fromEntries(bans) }),
  }
}

/** A running clock is exported as an offset, which is valid on any day; a frozen one as an instant. */
function clockContent(clock: ClockState): Pick<ScenarioContent, 'now' | 'freeze'> {
  if (clock.kind === 'frozen') return { now: new Date(clock.at).toISOString(), freeze: true }
  return clock.ahead === 0 ? {} : { now: formatOffset(clock.ahead) }
}

function flagsText({ ban: _bans, ...content }: ScenarioContent): string {
  const flags = Object.entries(content).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return [`--${value ? '' : 'no-'}${toKebabCase(name)}`]
    return [value]
      .flat()
      .map(
        (item) =>
          `--${toKebabCase(name)} ${shellWord(typeof item === 'object' ? String(stringifyJson(item)) : String(item))}`,
      )
  })
  return `${flags.join(' ')}\n`
}

function testText(content: ScenarioContent): string {
  return `import { test } from 'petstore-sandbox/vitest'

test('handles a failing service', async ({ sandbox }) => {
  await sandbox.scenario(${String(stringifyJson(content, 2)).replaceAll('\n', '\n  ')})
  // The client under test, with sandbox.baseUrl and sandbox.key() …
})
`
}
