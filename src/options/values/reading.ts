import * as v from 'valibot'
import { joinOr, parseSize } from '../../domain/numbers.js'
import { didYouMean } from '../../domain/suggest.js'
import {
  type DurationMs,
  type DurationText,
  formatDuration,
  LONGEST_WAIT_MS,
  parseDuration,
} from '../../domain/time.js'

/** The value, or a sentence part: "must be a whole number". */
export type ParseResult<T> = { readonly value: T } | { readonly problem: string }

/** @param allowed message if the value is not a string */
export function textSchema<T>(allowed: string, read: (text: string) => ParseResult<T>) {
  return v.pipe(v.string(allowed), parseWith(read))
}

/** @param issue `{ input: undefined }` leaves the value out of the message */
export function parseWith<In, Out>(read: (value: In) => ParseResult<Out>, issue: { readonly input?: undefined } = {}) {
  return v.rawTransform<In, Out>(({ dataset, addIssue, NEVER }) => {
    const reading = read(dataset.value)
    if ('value' in reading) return reading.value
    addIssue({ message: reading.problem, ...issue })
    return NEVER
  })
}

export function patternSchema(pattern: RegExp, form: string) {
  return v.pipe(
    v.string(form),
    v.check((text) => pattern.test(text), form),
  )
}

export function valueUnless<T>(problem: string | undefined, value: T): ParseResult<T> {
  return problem === undefined ? { value } : { problem }
}

export function oneOf<const T extends readonly (string | number)[]>(values: T) {
  return v.picklist(values, `must be ${joinOr(values)}`)
}

export const switchSchema = v.boolean('must be true or false')

/** @param what names it: "a file" */
export function filledText(what: string) {
  const message = `must be ${what}`
  return v.pipe(v.string(message), v.nonEmpty(message))
}

export function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(text)
}

export function pathText(what: string) {
  return v.pipe(
    filledText(what),
    v.check((text) => !isAddress(text), `must be ${what}, not an address; download it and name the file`),
  )
}

export const GENERATE_FORM = 'must be <resource>=<n>, for example categories=50'

export const generateSchema = textSchema(GENERATE_FORM, (text) => {
  const [, resource = '', count] = /^([^=]+)=(\d{1,7})$/.exec(text) ?? []
  return count === undefined ? { problem: GENERATE_FORM } : { value: { resource, count: Number(count) } }
})

export function mapSchema<const Entries extends v.ObjectEntries>(entries: Entries, allowed: string) {
  return v.pipe(objectSchema(allowed), strictMap(entries, allowed))
}

/** Any object but a list. */
export function objectSchema(allowed: string) {
  return v.custom<object>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), allowed)
}

/** Suggests a name for an unknown one. */
export function strictMap<const Entries extends v.ObjectEntries>(entries: Entries, allowed: string) {
  return v.strictObject(entries, ({ expected, input }) =>
    expected === 'never' ? allowed + didYouMean(String(input), Object.keys(entries)) : allowed,
  )
}

const MAX_ITEMS = 1000

/** Checks the length first, so that long lists are refused quickly. */
export function listOf<In, Out>(item: v.GenericSchema<In, Out>, allowed: string) {
  const schema: v.GenericSchema<readonly In[], Out[]> = v.pipe(
    v.custom<unknown[]>(
      (value) => !Array.isArray(value) || value.length <= MAX_ITEMS,
      `must have at most ${MAX_ITEMS} values`,
    ),
    v.array(item, allowed),
  ) as never
  return schema
}

export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  const message = wholeNumberRule(least, most)
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(least, message), v.maxValue(most, message))
}

export function wholeNumberOr<const Word extends string>(word: Word, least: number) {
  const message = `${wholeNumberRule(least, Number.MAX_SAFE_INTEGER)}, or ${word}`
  return v.union(
    [v.pipe(v.number(message), v.safeInteger(message), v.minValue(least, message)), v.literal(word, message)],
    message,
  )
}

function wholeNumberRule(least: number, most: number): string {
  return most === Number.MAX_SAFE_INTEGER
    ? `must be a whole number of ${least} or more`
    : `must be a whole number from ${least} to ${most}`
}

const SIZE_FORM = 'must be a whole number with a unit, for example 512KiB, 256MiB or 2GiB'

export const sizeSchema = textSchema(SIZE_FORM, (text) => {
  const value = parseSize(text)
  return value === undefined ? { problem: SIZE_FORM } : { value }
})

const DURATION_FORM = 'must be a whole number with a unit, for example 500ms, 30s, 5m or 24h'

type DurationSchema = v.GenericSchema<DurationText, DurationMs>

export const durationSchema = textSchema(DURATION_FORM, (text) => readDuration(text)) as DurationSchema

/** A duration that Retry-After can have. */
export const waitSchema = textSchema(DURATION_FORM, (text) => readDuration(text, 0, LONGEST_WAIT_MS)) as DurationSchema

export const positiveWaitSchema = textSchema(DURATION_FORM, (text) =>
  readDuration(text, 1, LONGEST_WAIT_MS),
) as DurationSchema

export function readDuration(
  text: string,
  least: DurationMs = 0,
  most = Number.MAX_SAFE_INTEGER,
): ParseResult<DurationMs> {
  const value = parseDuration(text)
  if (value === undefined) return { problem: DURATION_FORM }
  if (value < least) return { problem: 'must be longer than 0' }
  if (value > most) return { problem: `must be at most ${formatDuration(most)}` }
  return { value }
}
