import type { Space } from '../core/space.js'
import { activeBan } from '../domain/ban.js'
import { shellWord } from '../domain/curl.js'
import { formatFaultRule } from '../domain/faults.js'
import { DEFAULT_KEY, labelOf, startPlan } from '../domain/keys.js'
import { DEFAULT_SETTINGS, SETTING_NAMES } from '../domain/settings.js'
import { blows, type Storm } from '../domain/storm.js'
import { ceilSeconds, type EpochMs, formatDuration, SECOND_MS } from '../domain/time.js'
import { toKebabCase } from '../options/letter-case.js'
import type { ScenarioContent } from '../options/options.js'
import { settingsView } from '../options/settings-view.js'
import { loadYaml } from '../system/yaml.js'
import type { SwitchesView } from './views.js'

/**
 * The present switches in the three forms in which a sandbox can be started with them
 * again: what was found by hand goes into a test.
 *
 * @source docs/control-api.md, "Switches to take along"
 */
export function switchesView(space: Space, wall: EpochMs): SwitchesView {
  const content = contentOf(space, wall)
  return {
    content,
    scenario: loadYaml().stringify(kebabKeys(content), { lineWidth: 0 }),
    flags: flagsOf(content),
    test: testOf(content),
    untold: untoldOf(space),
  }
}

/** What differs from the defaults, so that a sandbox that starts without any option gets all of it. */
function contentOf(space: Space, wall: EpochMs): ScenarioContent {
  const now = space.now(wall)
  const { storm, clock } = space
  const settings = settingsView(space.settings)
  const standard = settingsView(DEFAULT_SETTINGS)
  const changed = SETTING_NAMES.filter((name) => settings[name] !== standard[name])
  const faults = space.faults.filter(({ left }) => left !== 0)
  const rules = faults.map(({ rule, left }) => formatFaultRule(left === undefined ? rule : { ...rule, times: left }))
  const isBlowing = storm !== undefined && (storm.every !== undefined || blows(storm, now))
  const bans = [...space.keys.values()].flatMap((apiKey) => {
    const ban = activeBan(space.accounts.view(apiKey.key).bans, now)
    return ban === undefined
      ? []
      : [[labelOf(apiKey), formatDuration(ceilSeconds(ban.until - now) * SECOND_MS)] as const]
  })
  const isReal = clock.kind === 'running' && clock.ahead === 0
  return {
    ...Object.fromEntries(changed.map((name) => [name, settings[name]])),
    ...(isBlowing ? { storm: stormText(storm) } : {}),
    ...(rules.length === 0 ? {} : { fault: rules }),
    ...(isReal ? {} : { now: new Date(now).toISOString() }),
    ...(clock.kind === 'frozen' ? { freeze: true } : {}),
    ...(bans.length === 0 ? {} : { ban: Object.fromEntries(bans) }),
  }
}

/** As readStorm reads it. */
function stormText({ rate, for: length, every, retryAfter }: Storm): string {
  const part = (name: string, duration: number | undefined) =>
    duration === undefined ? '' : `,${name}=${formatDuration(duration)}`
  // A rate such as 1e-7 is written in full.
  const share = Number(rate.toFixed(20)).toLocaleString('en', { maximumFractionDigits: 20, useGrouping: false })
  return `${share}${part('for', length)}${part('every', every)}${part('retry-after', retryAfter)}`
}

function kebabKeys(content: ScenarioContent): object {
  return Object.fromEntries(Object.entries(content).map(([name, value]) => [toKebabCase(name), value]))
}

/** Flags of serve. Bans have none: they are a scenario's. */
function flagsOf({ ban: _bans, ...content }: ScenarioContent): string {
  const flags = Object.entries(content).flatMap(([name, value]) => {
    const flag = `--${toKebabCase(name)}`
    if (value === true) return [flag]
    if (value === false) return [`--no-${toKebabCase(name)}`]
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return values.map((one) => `${flag} ${shellWord(String(one))}`)
  })
  return `${flags.join(' ')}\n`
}

function testOf(content: ScenarioContent): string {
  return `import { test } from 'petstore-sandbox/vitest'

test('keeps its promises when the service does not', async ({ sandbox }) => {
  await sandbox.scenario(${JSON.stringify(content, null, 2).replaceAll('\n', '\n  ')})
  // The client under test, with sandbox.baseUrl and sandbox.key() …
})
`
}

/** What has no switch to start with. */
function untoldOf(space: Space): readonly string[] {
  return [...space.keys.values()]
    .filter((apiKey) => apiKey.key !== DEFAULT_KEY && space.planOf(apiKey) !== startPlan(apiKey))
    .map((apiKey) => `the plan ${space.planOf(apiKey)} of the key ${labelOf(apiKey)}`)
}
