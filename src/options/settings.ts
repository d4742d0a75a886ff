import * as v from 'valibot'
import { OPTIONAL_SETTINGS, SETTING_NAMES, type Settings } from '../domain/settings.js'
import { type OptionValues, optionRow } from './table.js'
import { mapSchema } from './values/reading.js'

/** A change to settings: absent ones stay, and undefined removes (limits, latency). */
export type SettingsChange = { readonly [Name in keyof Settings]?: Settings[Name] | undefined }

/** Every setting, as users write it; null takes away what may be missing. */
const ENTRIES = Object.fromEntries(
  SETTING_NAMES.map((name) => {
    const { schema } = optionRow(name)
    return [name, v.exactOptional(OPTIONAL_SETTINGS.includes(name) ? v.nullable(schema) : schema)]
  }),
)

/** Settings as the control plane is given them, in the words of the flags. */
export const settingsSchema = v.pipe(mapSchema(ENTRIES, 'must be a map of settings'), v.transform(changeOf))

/** The settings among the options that were given. */
export function settingsIn(values: OptionValues): SettingsChange {
  const given = SETTING_NAMES.filter((name) => values[name] !== undefined)
  return changeOf(Object.fromEntries(given.map((name) => [name, values[name]])))
}

/** What stands for having none is taken away. Each value has been read by its own row's schema. */
function changeOf(values: { readonly [name: string]: unknown }): SettingsChange {
  const kept = ([name, value]: readonly [string, unknown]) =>
    OPTIONAL_SETTINGS.includes(name) && (value === null || value === 'off') ? undefined : value
  return Object.fromEntries(Object.entries(values).map((entry) => [entry[0], kept(entry)]))
}

/** Settings with a change made. */
export function changeSettings(settings: Settings, change: SettingsChange): Settings {
  const kept = Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined)
  // Only optional settings can have been removed.
  return Object.fromEntries(kept) as unknown as Settings
}
