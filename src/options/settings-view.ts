import { type OptionalSetting, SETTING_NAMES, SETTINGS, type Settings } from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import { toKebabCase } from './letter-case.js'
import type { SettingsInput } from './options.js'
import { formatLatency } from './values/latency.js'
import { formatLimits } from './values/limits.js'

/** Settings in the words in which they are given, so that what was shown can be sent back; null is none, or the plan's own. */
export type SettingsView = {
  readonly [Name in keyof Settings]-?:
    | Shown<Required<SettingsInput>[Name]>
    | (Name extends OptionalSetting ? null : never)
}

/** What may be written as any text is shown as one. */
type Shown<Written> = string extends Written ? string : Written

/** Kinds of setting that are shown in other words than they are kept in. */
const FORMATS: Readonly<Record<string, (value: never) => string>> = {
  wait: formatDuration,
  limits: formatLimits,
  latency: formatLatency,
}

export function settingsView(settings: Settings): SettingsView {
  const view: Record<string, unknown> = { ...settings }
  for (const name of SETTING_NAMES) {
    const value = settings[name]
    // A kind's format takes what settings of that kind are.
    view[name] = value === undefined ? null : (FORMATS[SETTINGS[name].kind]?.(value as never) ?? value)
  }
  return view as SettingsView
}

/** Stands for an absent setting: the plan's own limits, no latency, senders that nobody stated. */
export const NO_SETTING = 'none'

/** `ban-after`, as the flag has it. */
export function settingName(name: string): string {
  return toKebabCase(name)
}

export function settingText(value: SettingsView[keyof SettingsView]): string {
  return value === null ? NO_SETTING : String(value)
}
