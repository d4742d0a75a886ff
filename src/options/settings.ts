import * as v from 'valibot'
import type { Settings } from '../domain/settings.js'
import { OPTIONS, type OptionValues } from './table.js'
import { mapSchema } from './values/reading.js'

/** Settings to be changed: what is not there stays, and undefined takes away (limits, latency). */
export type SettingsChange = { readonly [Name in keyof Settings]?: Settings[Name] | undefined }

const {
  plan,
  limits,
  rateLimit,
  banAfter,
  banDuration,
  banStatus,
  retryAfter,
  limitBody,
  sunset,
  sunsetStatus,
  latency,
} = OPTIONS

/** Every setting, as users write it; null takes limits or latency away. */
const ENTRIES = {
  plan: v.exactOptional(plan.schema),
  limits: v.exactOptional(v.nullable(limits.schema)),
  rateLimit: v.exactOptional(rateLimit.schema),
  banAfter: v.exactOptional(banAfter.schema),
  banDuration: v.exactOptional(banDuration.schema),
  banStatus: v.exactOptional(banStatus.schema),
  retryAfter: v.exactOptional(retryAfter.schema),
  limitBody: v.exactOptional(limitBody.schema),
  sunset: v.exactOptional(sunset.schema),
  sunsetStatus: v.exactOptional(sunsetStatus.schema),
  latency: v.exactOptional(v.nullable(latency.schema)),
}

/** Settings as the control plane is given them, in the words of the flags. */
export const settingsSchema = v.pipe(
  mapSchema(ENTRIES, 'must be a map of settings'),
  v.transform(
    ({ limits, latency, ...rest }): SettingsChange => ({
      ...rest,
      ...(limits === undefined ? {} : { limits: limits ?? undefined }),
      ...(latency === undefined ? {} : { latency: latency === 'off' ? undefined : (latency ?? undefined) }),
    }),
  ),
)

/** The settings among the options that were given. */
export function settingsIn(values: OptionValues): SettingsChange {
  const change: Record<string, unknown> = {}
  for (const name of Object.keys(ENTRIES)) {
    const value = values[name as keyof OptionValues]
    if (value !== undefined) change[name] = value === 'off' ? undefined : value
  }
  // Each option of that name has the setting's own type, but for latency's "off".
  return change as SettingsChange
}

/** Settings with a change made. */
export function changeSettings(settings: Settings, change: SettingsChange): Settings {
  const kept = Object.entries({ ...settings, ...change }).filter(([, value]) => value !== undefined)
  // Only what may be missing can have been taken away.
  return Object.fromEntries(kept) as unknown as Settings
}
