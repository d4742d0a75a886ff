import type { Space } from '../core/space.js'
import { activeBan } from '../domain/ban.js'
import { shellWord } from '../domain/curl.js'
import { formatFaultRule } from '../domain/faults.js'
import { DEFAULT_KEY, keyLabel, startPlan } from '../domain/keys.js'
import { DEFAULT_SETTINGS, SETTING_NAMES } from '../domain/settings.js'
import { isStormActive, type Storm } from '../domain/storm.js'
import { type ClockState, ceilSeconds, type EpochMs, formatDuration, formatOffset, SECOND_MS } from '../domain/time.js'
import { toKebabCase } from '../options/letter-case.js'
import type { ScenarioContent } from '../options/options.js'
import { settingsView } from '../options/settings.js'
import { loadYaml } from '../system/yaml.js'
import type { OverridesExport } from './views.js'

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
      .filter((apiKey) => apiKey.key !== DEFAULT_KEY && space.currentPlan(apiKey) !== startPlan(apiKey))
      .map((apiKey) => `the plan ${space.currentPlan(apiKey)} of the key ${keyLabel(apiKey)}`),
  }
}

/** Differences from the defaults of a sandbox without options. */
function scenarioContent(space: Space, wall: EpochMs): ScenarioContent {
  const now = space.now(wall)
  const { storm } = space
  const settings = settingsView(space.settings)
  const standard = settingsView(DEFAULT_SETTINGS)
  const changed = SETTING_NAMES.filter((name) => settings[name] !== standard[name])
  const faults = space.faults.filter(({ left }) => left !== 0)
  const rules = faults.map(({ rule, left }) => formatFaultRule(left === null ? rule : { ...rule, times: left }))
  const hasStorm = storm !== undefined && (storm.every !== undefined || isStormActive(storm, now))
  const bans = [...space.keys.values()].flatMap((apiKey) => {
    const ban = activeBan(space.accounts.view(apiKey.key).bans, now)
    return ban === undefined ? [] : [[keyLabel(apiKey), formatDuration(ceilSeconds(ban.until - now) * SECOND_MS)]]
  })
  return {
    ...Object.fromEntries(changed.map((name) => [name, settings[name]])),
    ...(hasStorm ? { storm: stormText(storm) } : {}),
    ...(rules.length === 0 ? {} : { fault: rules }),
    ...clockContent(space.clock),
    ...(bans.length === 0 ? {} : { ban: Object.fromEntries(bans) }),
  }
}

/** A running clock is exported as an offset, which is valid on any day; a frozen one as an instant. */
function clockContent(clock: ClockState): Pick<ScenarioContent, 'now' | 'freeze'> {
  if (clock.kind === 'frozen') return { now: new Date(clock.at).toISOString(), freeze: true }
  return clock.ahead === 0 ? {} : { now: formatOffset(clock.ahead) }
}

function stormText({ rate, for: length, every, retryAfter }: Storm): string {
  const part = (name: string, duration: number | undefined) =>
    duration === undefined ? '' : `,${name}=${formatDuration(duration)}`
  // Without exponents: 1e-7 is written in full.
  const share = Number(rate.toFixed(20)).toLocaleString('en', { maximumFractionDigits: 20, useGrouping: false })
  return `${share}${part('for', length)}${part('every', every)}${part('retry-after', retryAfter)}`
}

/** Bans do not have a flag. */
function flagsText({ ban: _bans, ...content }: ScenarioContent): string {
  const flags = Object.entries(content).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return [`--${value ? '' : 'no-'}${toKebabCase(name)}`]
    return [value].flat().map((one) => `--${toKebabCase(name)} ${shellWord(String(one))}`)
  })
  return `${flags.join(' ')}\n`
}

function testText(content: ScenarioContent): string {
  return `import { test } from 'petstore-sandbox/vitest'

test('handles a failing service', async ({ sandbox }) => {
  await sandbox.scenario(${JSON.stringify(content, null, 2).replaceAll('\n', '\n  ')})
  // The client under test, with sandbox.baseUrl and sandbox.key() …
})
`
}
