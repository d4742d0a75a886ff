import * as v from 'valibot'
import { type Latency, LONGEST_LATENCY_MS } from '../../domain/settings.js'
import { formatDuration } from '../../domain/time.js'
import { readDuration } from './duration.js'
import { type ParseResult, textSchema } from './reading.js'

const FORM = 'must be a duration or a range of them, for example 100ms or 50ms..200ms'

/** Reads `100ms` or `50ms..200ms`. */
export function readLatency(text: string): ParseResult<Latency> {
  const [least = '', most = least, ...rest] = text.split('..')
  const min = readDuration(least, 0, LONGEST_LATENCY_MS)
  const max = readDuration(most, 0, LONGEST_LATENCY_MS)
  if ('problem' in min || 'problem' in max || rest.length > 0) return { problem: `${FORM}, at most 24h` }
  if (min.value > max.value) return { problem: 'must start with the shorter duration' }
  return { value: { min: min.value, max: max.value } }
}

/** Writes a latency as readLatency reads it. */
export function formatLatency({ min, max }: Latency): string {
  return min === max ? formatDuration(min) : `${formatDuration(min)}..${formatDuration(max)}`
}

/** A latency as text, or `off`. */
export const latencySchema = v.union([v.literal('off'), textSchema(FORM, readLatency)], `${FORM}, or off`)
