import { type Command, Option } from 'commander'
import type { DeviationView, StateView, UpstreamView } from '../../control/views.js'
import { formatFaultRule } from '../../domain/faults.js'
import { DEFAULT_SETTINGS } from '../../domain/settings.js'
import { type EpochMs, formatSpan } from '../../domain/time.js'
import { type SettingsView, settingName, settingsView, settingText } from '../../options/settings-view.js'
import { baseUrlOf } from './base-url.js'
import { keyTable } from './key-verbs.js'
import { done } from './result.js'
import { stormText } from './storm-verbs.js'
import { aligned } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addStateVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  verb(parent, 'status', 'settings, clock, keys with their quotas and bans, storm, faults and counts', [
    'status',
    'status --space checkout -o json',
  ]).action(
    call(async ({ controls, found }) => {
      const value = await controls.state()
      return { value, text: (width) => stateText(value, found.controlUrl, width) }
    }),
  )
  const deviations = group(parent, 'deviations', 'what is not as the space began')
  verb(deviations, 'list', 'list it: storm, faults, clock, settings, bans and plans', ['deviations list']).action(
    call(async ({ controls }) => {
      const value = await controls.deviations()
      const { now } = await controls.clock.show()
      const text = value.map((deviation) => deviationText(deviation, Date.parse(now))).join('\n')
      return { value, text, ...(value.length === 0 ? { note: 'Everything is as it began.' } : {}) }
    }),
  )
  verb(deviations, 'clear', 'straighten all of it; no pet, quota or exchange is lost', ['deviations clear']).action(
    call(async ({ controls }) => {
      const value = await controls.deviations.clear()
      return { value, text: value.straightened === 0 ? 'Nothing deviated.' : 'Everything is as it began.' }
    }),
  )
  verb(parent, 'switches', 'the present switches as a scenario file, flags of serve, or test code', [
    'switches > bad-day.yaml',
    'switches --as flags',
    'switches --as test',
  ])
    .addOption(
      new Option('--as <form>', 'scenario, flags or test').choices(['scenario', 'flags', 'test']).default('scenario'),
    )
    .action(
      call(async ({ controls }, { as }: { readonly as: 'scenario' | 'flags' | 'test' }) => {
        const value = await controls.switches()
        return {
          value,
          text: value[as].trimEnd(),
          ...(value.untold.length === 0 ? {} : { note: untoldText(value.untold) }),
        }
      }),
    )
  verb(parent, 'undo', 'take back the last reset, restore, scenario or removal, for a minute after it', [
    'undo',
  ]).action(
    call(async ({ controls }) => {
      const value = await controls.undo()
      return { value, text: `Undone: ${value.undone.replace('.', ' ')}.` }
    }),
  )
  verb(parent, 'reset', 'return to the start: fixtures, flags, quotas, bans, clock, log; snapshots stay', [
    'reset',
    'reset --space checkout',
  ]).action(
    call(async ({ controls, space }) => {
      await controls.reset()
      return done(`${space === '' ? 'The sandbox' : `The space "${space}"`} has been reset.`, { space })
    }),
  )
}

function stateText(state: StateView, controlUrl: string, width: number): string {
  const { space, clock, storm, faults, deviations, upstream, counts, keys, settings } = state
  const facts = aligned([
    ['service', baseUrlOf(controlUrl, state)],
    ['control', controlUrl],
    ...(upstream === null ? [] : [['upstream', upstreamText(upstream)] as const]),
    ['space', space === '' ? 'the default one' : space],
    ['clock', clock.now + (clock.frozen ? ' (frozen)' : '')],
    ['settings', changedSettings(settings)],
    ['deviates', deviations.map((deviation) => deviationText(deviation, Date.parse(clock.now))).join(' · ') || 'no'],
    ['storm', storm === null ? 'none' : stormText(storm, Date.parse(clock.now))],
    ['faults', faults.map(formatFaultRule).join(' ') || 'none'],
    [
      'counts',
      `${counts.pets} pets, ${counts.orders} orders, ${counts.requests} requests, ${counts.spaces} more spaces`,
    ],
  ])
  return `${facts}\n\n${keyTable(keys, width)}`
}

/** `https://staging.example/v1, failing (upstream_timeout) since 2026-03-01T12:00:00.000Z` */
function upstreamText({ baseUrl, is, code, since }: UpstreamView): string {
  if (since === null) return `${baseUrl}, not asked yet`
  return `${baseUrl}, ${is}${code === null ? '' : ` (${code})`} since ${since}`
}

function untoldText(untold: readonly string[]): string {
  return `note: no scenario and no flag can say: ${untold.join(', ')}.`
}

/** `storm 30 %, 0:24 left` */
function deviationText({ text, until }: DeviationView, now: EpochMs): string {
  return until === null ? text : `${text}, ${formatSpan(Math.max(0, Date.parse(until) - now))} left`
}

function changedSettings(settings: SettingsView): string {
  const standard = new Map(Object.entries(settingsView(DEFAULT_SETTINGS)))
  const changed = Object.entries(settings).filter(([name, value]) => value !== standard.get(name))
  return changed.map(([name, value]) => `${settingName(name)}=${settingText(value)}`).join(' ') || 'the defaults'
}
