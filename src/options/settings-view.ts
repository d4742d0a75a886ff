import type { Settings } from '../domain/settings.js'
import { formatDuration } from '../domain/time.js'
import { formatLatency } from './values/latency.js'
import { formatLimits } from './values/limits.js'

/** Settings in the words in which they are given, so that what was shown can be sent back. */
export interface SettingsView extends Omit<Settings, 'limits' | 'banDuration' | 'latency'> {
  /** `5000/min,200000/day`; null is the plan's own. */
  readonly limits: string | null
  /** `5m` */
  readonly banDuration: string
  /** `50ms..200ms`; null is none. */
  readonly latency: string | null
}

export function settingsView(settings: Settings): SettingsView {
  const { limits, latency } = settings
  return {
    ...settings,
    limits: limits === undefined ? null : formatLimits(limits),
    banDuration: formatDuration(settings.banDuration),
    latency: latency === undefined ? null : formatLatency(latency),
  }
}
