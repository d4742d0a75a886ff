import * as v from 'valibot'
import { type Storm, stormProblem } from '../../domain/storm.js'
import { type DurationMs, LONGEST_WAIT_MS } from '../../domain/time.js'
import { durationSchema, readDuration, waitSchema } from './duration.js'
import { mapSchema, type ParseResult, textSchema } from './reading.js'

const FORM = 'must be <rate>[,for=30s][,every=5m][,retry-after=2s] with a rate from 0 to 1, for example 0.3,for=30s'
const RATE = /^(?:\d{1,3}(?:\.\d{1,30})?|\.\d{1,30})$/
const PARTS = { for: 'for', every: 'every', 'retry-after': 'retryAfter' } as const

/** Reads `0.3,for=30s,every=5m,retry-after=2s`. */
export function readStorm(text: string): ParseResult<Storm> {
  const [rate = '', ...parts] = text.split(',')
  if (!RATE.test(rate)) return { problem: FORM }
  const lengths: { for?: DurationMs; every?: DurationMs; retryAfter?: DurationMs } = {}
  for (const part of parts) {
    const [name = '', length = ''] = part.split('=', 2)
    if (!Object.hasOwn(PARTS, name)) return { problem: FORM }
    const key = PARTS[name as keyof typeof PARTS]
    if (lengths[key] !== undefined) return { problem: `must name ${name} once` }
    const reading = readDuration(length, 0, key === 'retryAfter' ? LONGEST_WAIT_MS : undefined)
    if ('problem' in reading) return { problem: `${name} ${reading.problem}` }
    lengths[key] = reading.value
  }
  return checked({ rate: Number(rate), ...lengths })
}

const rateSchema = v.pipe(
  v.number('must be a number from 0 to 1'),
  v.minValue(0, 'must be from 0 to 1'),
  v.maxValue(1, 'must be from 0 to 1'),
)

/** A storm as `{ rate, for, every, retryAfter }`, durations as text; everything is refused if no rate is given. */
export const stormMapSchema = v.pipe(
  mapSchema(
    {
      rate: v.exactOptional(rateSchema),
      for: v.exactOptional(durationSchema),
      every: v.exactOptional(durationSchema),
      retryAfter: v.exactOptional(waitSchema),
    },
    FORM,
  ),
  v.rawTransform(({ dataset, addIssue, NEVER }): Storm => {
    const reading = checked({ rate: 1, ...dataset.value })
    if ('value' in reading) return reading.value
    // Without the value, in which durations are no longer as they were given.
    addIssue({ message: reading.problem, input: undefined })
    return NEVER
  }),
)

const stormTextSchema = textSchema(FORM, readStorm)

/** A storm as text, map or its rate alone, or `off`. */
export const stormSchema = v.union(
  [
    v.literal('off'),
    stormTextSchema,
    v.pipe(
      rateSchema,
      v.transform((rate): Storm => ({ rate })),
    ),
    stormMapSchema,
  ],
  `${FORM}, or off`,
)

function checked(storm: Storm): ParseResult<Storm> {
  const problem = stormProblem(storm)
  return problem === undefined ? { value: storm } : { problem }
}
