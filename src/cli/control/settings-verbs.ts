import type { Command } from 'commander'
import type { SettingsPatch } from '../../control/verb-map.js'
import { OPTIONAL_SETTINGS } from '../../domain/settings.js'
import { didYouMean } from '../../domain/suggest.js'
import { toCamelCase } from '../../options/letter-case.js'
import { optionNamed } from '../../options/names.js'
import { naturalFromText } from '../../options/option-text.js'
import { NO_SETTING, type SettingsView, settingName, settingText } from '../../options/settings-view.js'
import { optionRow } from '../../options/table.js'
import { joinOr } from '../../options/values/reading.js'
import { UsageError } from './errors.js'
import type { Result } from './result.js'
import { aligned } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addSettingsVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  const settings = group(parent, 'settings', 'the switches of a space')
  verb(settings, 'show', 'show all settings', ['settings show']).action(
    call(async ({ controls }) => view(await controls.settings.show())),
  )
  verb(settings, 'set', 'change some: all of them or none', [
    'settings set plan=pro latency=50ms..200ms',
    'settings set limits=none rate-limit=off',
  ])
    .argument(
      '<name=value...>',
      `named and written as the flags of serve; none takes ${joinOr(OPTIONAL_SETTINGS.map(settingName))} away`,
    )
    .action(
      call(async ({ controls }, pairs: readonly string[]) => {
        const known = Object.keys(await controls.settings.show())
        return view(await controls.settings.change(readPatch(pairs, [...new Set([...known, ...OPTIONAL_SETTINGS])])))
      }),
    )
}

function view(value: SettingsView): Result {
  const rows = Object.entries(value).map(([name, setting]) => [settingName(name), settingText(setting)])
  return { value, text: (width) => aligned(rows, width) }
}

/** Reads `ban-after=3`, `banAfter=3` or `no-rate-limit=true`. */
function readPatch(pairs: readonly string[], known: readonly string[]): SettingsPatch {
  const patch: Record<string, unknown> = {}
  for (const pair of pairs) {
    const [, written = '', text = ''] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
    if (written === '') throw new UsageError(`${JSON.stringify(pair)} must be <name>=<value>, for example plan=pro`)
    const option = optionNamed(toCamelCase(written))
    if (option === undefined || !known.includes(option.name)) {
      const names = known.map(settingName)
      throw new UsageError(
        `"${written}" is not a setting; the settings are ${names.join(', ')}${didYouMean(written, names)}`,
      )
    }
    if (Object.hasOwn(patch, option.name)) throw new UsageError(`"${written}" is given twice`)
    const isNone = OPTIONAL_SETTINGS.includes(option.name) && (text === NO_SETTING || text === '')
    const value = isNone ? null : naturalFromText(optionRow(option.name).reads, text)
    patch[option.name] = option.negated && typeof value === 'boolean' ? !value : value
  }
  // The sandbox checks the values and changes all of them or none.
  return patch as SettingsPatch
}
