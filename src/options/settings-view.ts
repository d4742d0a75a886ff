import { type OptionalSetting, SETTING_NAMES, SETTINGS, type Settings } from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import type { SettingsInput } from './options.js'
import { formatLatency } from './values/faults.js'
import { formatLimits } from './values/keys.js'

/** Settings as they are written, so that they can be sent back. Null: not set, or the plan's own. */
export type SettingsView = {
  readonly [Name in keyof Settings]-?:
    | Shown<Required<SettingsInput>[Name]>
    | (Name extends OptionalSetting ? null : never)
}

type Shown<Written> = string extends Written ? string : Written

const FORMATS: Readonly<Record<string, (value: never) => string>> = {
  wait: formatDuration,
  limits: formatLimits,
  latency: formatLatency,
}

export function settingsView(settings: Settings): SettingsView {
  const entries = SETTING_NAMES.map((name) => {
    const value = settings[name]
    // The format of a kind takes the value of every setting of that kind.
    return [name, value === undefined ? null : (FORMATS[SETTINGS[name].kind]?.(value as never) ?? value)]
  })
  return { ...settings, ...Object.fromEntries(entries) }
}

export const NO_SETTING = 'none'

export function settingText(value: SettingsView[keyof SettingsView]): string {
  return value === null ? NO_SETTING : String(value)
}
