import { type DurationMs, formatDuration, LONGEST_WAIT_MS, parseDuration } from '../../domain/time.js'
import { type ParseResult, textSchema } from './reading.js'

const FORM = 'must be a whole number with a unit, for example 500ms, 30s, 5m or 24h'

/** A duration as users write it, including 0. */
export const durationSchema = textSchema(FORM, (text) => readDuration(text))

/** A duration that a client may be told to wait. */
export const waitSchema = textSchema(FORM, (text) => readDuration(text, 0, LONGEST_WAIT_MS))

/** As waitSchema, but longer than 0. */
export const someWaitSchema = textSchema(FORM, (text) => readDuration(text, 1, LONGEST_WAIT_MS))

/** Reads a duration between two bounds, both allowed. */
export function readDuration(
  text: string,
  least: DurationMs = 0,
  most = Number.MAX_SAFE_INTEGER,
): ParseResult<DurationMs> {
  const value = parseDuration(text)
  if (value === undefined) return { problem: FORM }
  if (value < least) return { problem: 'must be longer than 0' }
  if (value > most) return { problem: `must be at most ${formatDuration(most)}` }
  return { value }
}
