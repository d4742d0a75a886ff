import * as v from 'valibot'
import type { Limits } from '../../domain/quota.js'
import { mapSchema, type ParseResult, textSchema } from './reading.js'
import { wholeNumber } from './whole-number.js'

const FORM = 'must be requests per minute, per day or both, for example 5000/min,200000/day'
const PART = /^(\d{1,12})\/(min|day)$/
const WINDOWS = { min: 'perMinute', day: 'perDay' } as const

/** Reads `5000/min,200000/day`; one part alone is fine, the same one twice is not. */
export function readLimits(text: string): ParseResult<Partial<Limits>> {
  const limits: { -readonly [Window in keyof Limits]?: number } = {}
  for (const part of text.split(',')) {
    const match = PART.exec(part)
    if (match === null) return { problem: FORM }
    const window = WINDOWS[match[2] as keyof typeof WINDOWS]
    if (limits[window] !== undefined) return { problem: `must name each window once (${match[2]} appears twice)` }
    limits[window] = Number(match[1])
  }
  return { value: limits }
}

/** Writes limits as readLimits reads them. */
export function formatLimits({ perMinute, perDay }: Partial<Limits>): string {
  return [perMinute === undefined ? [] : [`${perMinute}/min`], perDay === undefined ? [] : [`${perDay}/day`]]
    .flat()
    .join()
}

const limitsTextSchema = textSchema(FORM, readLimits)

const requests = v.exactOptional(wholeNumber(0))

/** Limits as text or as `{ perMinute, perDay }`. */
export const limitsSchema = v.union(
  [
    limitsTextSchema,
    v.pipe(
      mapSchema({ perMinute: requests, perDay: requests }, FORM),
      v.check((limits) => limits.perMinute !== undefined || limits.perDay !== undefined, FORM),
    ),
  ],
  FORM,
)
