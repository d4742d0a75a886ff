import * as v from 'valibot'
import { EXAMPLE } from '../../contract/generated/examples.js'
import { parseShallowJson } from '../../contract/json.js'
import {
  FAULT_PHASES,
  FAULTS,
  type FaultInput,
  type FaultRule,
  faultProblem,
  isFaultObject,
  parseFaultRule,
} from '../../domain/faults.js'
import { recordSchema } from '../../domain/schemas.js'
import { type DelayRange, type Latency, LONGEST_LATENCY_MS } from '../../domain/settings.js'
import { type Storm, stormProblem } from '../../domain/storm.js'
import { type DurationMs, formatDuration, LONGEST_WAIT_MS } from '../../domain/time.js'
import type { StormOption } from '../options.js'
import {
  durationSchema,
  listOf,
  mapSchema,
  type ParseResult,
  parseWith,
  readDuration,
  textSchema,
  valueUnless,
  waitSchema,
} from './reading.js'

const FAULT_FORM = `must be a fault such as ${EXAMPLE.list}:503@20%*3`

/** Reads a rule, or an object as text, as a flag has it. */
export function readFault(text: string): ParseResult<FaultRule> {
  if (isFaultObject(text)) return readFaultJson(text)
  const rule = parseFaultRule(text)
  return typeof rule === 'string' ? { problem: rule } : { value: rule }
}

const faultTextSchema = textSchema<FaultRule>(FAULT_FORM, readFault)

function readFaultJson(text: string): ParseResult<FaultRule> {
  let given: unknown
  try {
    given = parseShallowJson(text)
  } catch {
    return { problem: FAULT_FORM }
  }
  const result = v.safeParse(faultMapSchema, given)
  return result.success ? { value: result.output } : { problem: result.issues[0].message }
}

const scalars = v.exactOptional(
  recordSchema(
    v.string(),
    v.union(
      [v.string(), v.number(), v.bigint(), v.boolean(), v.null()],
      'must be a text, a number, true, false or null',
    ),
    'must be an object with the values of fields',
  ),
)

const number = v.exactOptional(v.number('must be a number'))

const FAULT_KIND = `must be a status from 400 to 599, or one of ${FAULTS.join(', ')}`

const faultMapSchema = v.pipe(
  mapSchema(
    {
      operation: v.exactOptional(
        v.pipe(
          v.string('must be an operation or *'),
          v.regex(/^[^:@\s]+$/, 'must be an operation or *, without spaces'),
        ),
        '*',
      ),
      fault: v.exactOptional(v.union([v.picklist(['status', ...FAULTS]), v.number()], FAULT_KIND), 'status'),
      status: number,
      probability: number,
      times: number,
      retryAfter: v.exactOptional(v.string('must be a duration such as 2s')),
      body: v.exactOptional(v.pipe(v.unknown(), parseWith(copied))),
      headers: v.exactOptional(
        recordSchema(v.string(), v.string('must be a text'), 'must be an object of names and texts'),
      ),
      latency: v.exactOptional(v.string('must be a duration such as 2s')),
      when: v.exactOptional(
        mapSchema(
          { path: scalars, query: scalars, header: scalars, body: scalars },
          'must be an object with path, query, header or body, as in {"query":{"status":"sold"}}',
        ),
      ),
      phase: v.exactOptional(v.picklist(FAULT_PHASES, 'must be before or after')),
    },
    FAULT_FORM,
  ),
  parseWith(({ fault, ...others }): ParseResult<FaultRule> => {
    if (typeof fault !== 'number') return valueUnless(faultProblem({ ...others, fault }), { ...others, fault })
    const rule: FaultRule = { status: fault, ...others, fault: 'status' }
    const isTwice = others.status !== undefined
    return valueUnless(isTwice ? 'names its status twice, in fault and in status' : faultProblem(rule), rule)
  }),
)

/** The program that gave the object may change it. */
function copied(body: unknown): ParseResult<unknown> {
  try {
    return { value: typeof body === 'function' ? body : structuredClone(body) }
  } catch {
    return { problem: 'must be JSON' }
  }
}

/** A fault rule as text or as an object. Its operation is not checked here. */
export const faultSchema: v.GenericSchema<FaultInput, FaultRule> = v.union(
  [faultTextSchema, faultMapSchema],
  FAULT_FORM,
) as never

export const faultsSchema = listOf(faultSchema, `must be a list of faults such as ${EXAMPLE.list}:503@20%*3`)

const STORM_FORM =
  'must be <rate>[,for=30s][,every=5m][,retry-after=2s] with a rate from 0 to 1, for example 0.3,for=30s'
const RATE = /^(?:\d{1,3}(?:\.\d{1,30})?|\.\d{1,30})$/
const PARTS = { for: 'for', every: 'every', 'retry-after': 'retryAfter' } as const

/** Reads `0.3,for=30s,every=5m,retry-after=2s`. */
export function readStorm(text: string): ParseResult<Storm> {
  const [rate = '', ...parts] = text.split(',')
  if (!RATE.test(rate)) return { problem: STORM_FORM }
  const lengths: { for?: DurationMs; every?: DurationMs; retryAfter?: DurationMs } = {}
  for (const part of parts) {
    const [name = '', length = ''] = part.split('=', 2)
    if (!Object.hasOwn(PARTS, name)) return { problem: STORM_FORM }
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

/** A storm as `{ rate, for, every, retryAfter }`, durations as text. Default rate: 1. */
const stormMapSchema: v.GenericSchema<StormOption, Storm> = v.pipe(
  mapSchema(
    {
      rate: v.exactOptional(rateSchema),
      for: v.exactOptional(durationSchema),
      every: v.exactOptional(durationSchema),
      retryAfter: v.exactOptional(waitSchema),
    },
    STORM_FORM,
  ),
  // Without the value in messages: its durations are already numbers.
  parseWith((given): ParseResult<Storm> => checked({ rate: 1, ...given }), { input: undefined }),
) as never

const rateOnlySchema = v.pipe(
  rateSchema,
  v.transform((rate): Storm => ({ rate })),
)

export const runningStormSchema = v.union(
  [textSchema(STORM_FORM, readStorm), rateOnlySchema, stormMapSchema],
  STORM_FORM,
)

export const stormSchema = v.union([v.literal('off'), runningStormSchema], `${STORM_FORM}, or off`)

export function formatStorm({ rate, for: length, every, retryAfter }: Storm): string {
  const part = (name: string, duration: DurationMs | undefined) =>
    duration === undefined ? '' : `,${name}=${formatDuration(duration)}`
  // Without exponents: 1e-7 is written in full.
  const share = Number(rate.toFixed(20)).toLocaleString('en', { maximumFractionDigits: 20, useGrouping: false })
  return `${share}${part('for', length)}${part('every', every)}${part('retry-after', retryAfter)}`
}

const checked = (storm: Storm) => valueUnless(stormProblem(storm), storm)

const LATENCY_FORM = `must be a duration or a range, for all or by operation, for example 100ms, 50ms..200ms or ${EXAMPLE.list}=3s`
/** All operations that are not named. */
const OTHERS = '*'
const NO_DELAY: DelayRange = { min: 0, max: 0 }

/** Reads `100ms`, `50ms..200ms` or `listPets=3s`, or several with commas. */
export function readLatency(text: string): ParseResult<Latency> {
  return readParts(
    text.split(',').map((part) => {
      const equals = part.indexOf('=')
      return equals === -1 ? [OTHERS, part.trim()] : [part.slice(0, equals).trim(), part.slice(equals + 1).trim()]
    }),
  )
}

function readParts(parts: readonly (readonly string[])[]): ParseResult<Latency> {
  const ranges = new Map<string, DelayRange>()
  for (const [operation = '', text = ''] of parts) {
    const range = readRange(text)
    if ('problem' in range) return range
    if (operation === '' || ranges.has(operation)) return { problem: LATENCY_FORM }
    ranges.set(operation, range.value)
  }
  const { min, max } = ranges.get(OTHERS) ?? NO_DELAY
  ranges.delete(OTHERS)
  return { value: ranges.size === 0 ? { min, max } : { min, max, operations: Object.fromEntries(ranges) } }
}

function readRange(text: string): ParseResult<DelayRange> {
  const [least = '', most = least, ...rest] = text.split('..')
  const min = readDuration(least, 0, LONGEST_LATENCY_MS)
  const max = readDuration(most, 0, LONGEST_LATENCY_MS)
  if ('problem' in min || 'problem' in max || rest.length > 0) return { problem: `${LATENCY_FORM}, at most 24h` }
  if (min.value > max.value) return { problem: 'must start with the shorter duration' }
  return { value: { min: min.value, max: max.value } }
}

export function formatLatency({ min, max, operations = {} }: Latency): string {
  const named = Object.entries(operations).map(([operation, range]) => `${operation}=${formatRange(range)}`)
  return max === 0 && named.length > 0 ? named.join(',') : [formatRange({ min, max }), ...named].join(',')
}

function formatRange({ min, max }: DelayRange): string {
  return min === max ? formatDuration(min) : `${formatDuration(min)}..${formatDuration(max)}`
}

export const latencySchema = v.union(
  [
    v.literal('off'),
    textSchema(LATENCY_FORM, readLatency),
    v.pipe(
      recordSchema(v.string(), v.string(LATENCY_FORM), LATENCY_FORM),
      parseWith((parts: Record<string, string>) => readParts(Object.entries(parts))),
    ),
  ],
  `${LATENCY_FORM}, or off`,
)

const OPERATION_FORM = `must be the id of an operation, for example ${EXAMPLE.list}`

export const operationsSchema = listOf(
  v.pipe(v.string(OPERATION_FORM), v.regex(/^[^\s,]+$/, OPERATION_FORM)),
  OPERATION_FORM,
)
