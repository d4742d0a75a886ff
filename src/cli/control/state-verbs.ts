import type { Command } from 'commander'
import type { StateView } from '../../control/views.js'
import { formatFaultRule } from '../../domain/faults.js'
import { DEFAULT_SETTINGS } from '../../domain/settings.js'
import { type SettingsView, settingsView } from '../../options/settings-view.js'
import { baseUrlOf } from './base-url.js'
import { keyTable } from './key-verbs.js'
import { done } from './result.js'
import { settingName, settingText } from './settings-verbs.js'
import { stormText } from './storm-verbs.js'
import { aligned } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addStateVerbs(parent: Command, { verb, call }: VerbCommands): void {
  verb(parent, 'status', 'settings, clock, keys with their quotas and bans, storm, faults and counts', [
    'status',
    'status --space checkout -o json',
  ]).action(
    call(async ({ controls, found }) => {
      const value = await controls.state()
      return { value, text: (width) => stateText(value, found.controlUrl, width) }
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
  const { space, clock, storm, faults, counts, keys, settings } = state
  const facts = aligned([
    ['service', baseUrlOf(controlUrl, state)],
    ['control', controlUrl],
    ['space', space === '' ? 'the default one' : space],
    ['clock', clock.now + (clock.frozen ? ' (frozen)' : '')],
    ['settings', changedSettings(settings)],
    ['storm', storm === null ? 'none' : stormText(storm, Date.parse(clock.now))],
    ['faults', faults.map(formatFaultRule).join(' ') || 'none'],
    [
      'counts',
      `${counts.pets} pets, ${counts.orders} orders, ${counts.requests} requests, ${counts.spaces} more spaces`,
    ],
  ])
  return `${facts}\n\n${keyTable(keys, width)}`
}

function changedSettings(settings: SettingsView): string {
  const standard = new Map(Object.entries(settingsView(DEFAULT_SETTINGS)))
  const changed = Object.entries(settings).filter(([name, value]) => value !== standard.get(name))
  return changed.map(([name, value]) => `${settingName(name)}=${settingText(value)}`).join(' ') || 'the defaults'
}
