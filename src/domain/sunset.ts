import { type DurationMs, type EpochMs, httpDate, MINUTE_MS, SECOND_MS } from './time.js'

/** How the removal of deprecated operations is simulated. */
export const SUNSET_MODES = ['auto', 'before', 'after', 'brownout'] as const
export type SunsetMode = (typeof SUNSET_MODES)[number]

/** Brownouts: removed for the first 5 minutes of every half hour, by the clock. @source docs/switches.md, "Removal and brownouts" */
const BROWNOUT_EVERY_MS: DurationMs = 30 * MINUTE_MS
const BROWNOUT_FOR_MS: DurationMs = 5 * MINUTE_MS

/**
 * Whether an operation with the removal date `sunsetAt` is gone, and why.
 *
 * @source docs/specification.md, "Versioning", 3; docs/behaviour.md, "removed operations"
 */
export function removal(mode: SunsetMode, sunsetAt: EpochMs, now: EpochMs): 'sunset' | 'brownout' | undefined {
  switch (mode) {
    case 'before':
      return undefined
    case 'after':
      return 'sunset'
    case 'auto':
      return now >= sunsetAt ? 'sunset' : undefined
    case 'brownout':
      if (now >= sunsetAt) return 'sunset'
      return now % BROWNOUT_EVERY_MS < BROWNOUT_FOR_MS ? 'brownout' : undefined
  }
}

/**
 * The headers of every response of a deprecated operation, as a flat list of names and values: what is not known is not said.
 *
 * @param since    when it was deprecated, undefined if nobody knows: Deprecation must have a date
 * @param sunsetAt when it is removed, undefined if no date was set
 * @param successor address and query of its replacement, undefined if there is none
 * @source RFC 9745: Deprecation; RFC 8594: Sunset; RFC 5829: successor-version
 */
export function deprecationHeaders(
  since: EpochMs | undefined,
  sunsetAt: EpochMs | undefined,
  successor: string | undefined,
): readonly string[] {
  return [
    ...(since === undefined ? [] : ['Deprecation', `@${Math.floor(since / SECOND_MS)}`]),
    ...(sunsetAt === undefined ? [] : ['Sunset', httpDate(sunsetAt)]),
    ...(successor === undefined ? [] : ['Link', `<${successor}>; rel="successor-version"`]),
  ]
}
