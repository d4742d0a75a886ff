import * as v from 'valibot'
import { DEFAULT_SETTINGS, OPTIONAL_SETTINGS, SETTING_NAMES, SETTINGS, type Settings } from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import type { SettingsPatch, SettingsView } from './options.js'
import { type OptionValues, optionRow } from './table.js'
import { formatLatency } from './values/faults.js'
import { formatLimits } from './values/keys.js'
import { mapSchema } from './values/reading.js'

/** A change to settings: absent ones stay, and undefined removes one (limits, latency, senders). */
export type SettingsChange = { readonly [Name in keyof Settings]?: Settings[Name] | undefined }

const ENTRIES = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const { schema } = optionRow(name)
    return [name, v.exactOptional(OPTIONAL_SETTINGS.includes(name) ? v.nullable(schema) : schema)]
  }),
)

/** Settings as the control plane takes them; null removes an optional one. */
export const settingsSchema: v.GenericSchema<SettingsPatch, SettingsChange> = v.pipe(
  mapSchema(ENTRIES, 'must be an object of settings'),
  v.transform(toChange),
) as never

export function pickSettings(values: OptionValues): SettingsChange {
  const given = SETTING_NAMES.filter((name) => values[name] !== undefined)
  return toChange(Object.fromEntries(given.map((name) => [name, values[name]])))
}

function toChange(values: { readonly [name: string]: unknown }): SettingsChange {
  const isRemoved = (name: string, value: unknown) =>
    OPTIONAL_SETTINGS.includes(name) && (value === null || value === 'off')
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, isRemoved(name, value) ? undefined : value]),
  )
}

export function changeSettings(settings: Settings, change: SettingsChange): Settings {
  const kept = Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined)
  // Only optional settings can have been removed.
  return Object.fromEntries(kept) as unknown as Settings
}

const FORMATS: Readonly<Record<string, (value: never) => string>> = {
  wait: formatDuration,
  limits: formatLimits,
  latency: formatLatency,
}

/** Open pages ask for the same settings every second, several times in one response. */
const VIEWS = new WeakMap<Settings, SettingsView>()

export function settingsView(settings: Settings): SettingsView {
  return VIEWS.get(settings) ?? formatSettings(settings)
}

function formatSettings(settings: Settings): SettingsView {
  const entries = SETTING_NAMES.map((name) => {
    const value = settings[name]
    // The format of a kind takes the value of every setting of that kind.
    return [name, value === undefined ? null : (FORMATS[SETTINGS[name].kind]?.(value as never) ?? value)]
  })
  const view = { ...settings, ...Object.fromEntries(entries) }
  VIEWS.set(settings, view)
  return view
}

/** Of a sandbox without options. @param contract has the plan */
export function standardSettings({ defaultPlan = null }: { readonly defaultPlan?: string | null }): SettingsView {
  return { ...settingsView(DEFAULT_SETTINGS), plan: defaultPlan }
}

export const NO_SETTING = 'none'

export function settingText(value: SettingsView[keyof SettingsView]): string {
  return value === null ? NO_SETTING : String(value)
}
