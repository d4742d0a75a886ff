import type { Settings } from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import { formatLatency } from '../options/values/latency.js'
import { formatLimits } from '../options/values/limits.js'

/** The settings as users write them: durations, limits and latency as text, null where none is set. */
export interface SettingsView extends Omit<Settings, 'limits' | 'latency' | 'banDuration'> {
  readonly limits: string | null
  readonly banDuration: string
  readonly latency: string | null
}

export function settingsView(settings: Settings): SettingsView {
  return {
    ...settings,
    limits: settings.limits === undefined ? null : formatLimits(settings.limits),
    banDuration: formatDuration(settings.banDuration),
    latency: settings.latency === undefined ? null : formatLatency(settings.latency),
  }
}
