import * as v from 'valibot'
import { type ApiKey, NAME, NAME_FORM } from '../../domain/keys.js'
import type { Limits, UsedUp } from '../../domain/quota.js'
import { mapSchema, type ParseResult, patternSchema, textSchema, wholeNumber } from './reading.js'

/** A bearer token without `~`, which marks a space. @source RFC 6750, section 2.1: b64token */
const KEY = /^[A-Za-z0-9._+/-]+=*$/
const MAX_KEY_LENGTH = 4096
const KEY_FORM = `must consist of letters, digits and . _ - + /, with = only at the end, at most ${MAX_KEY_LENGTH} characters ("~" marks spaces)`
const API_KEY_FORM = `must be <key>, <key>:<plan> or <label>=<key>:<plan> with a plan of the contract and a label of ${NAME_FORM}`

function readKey(text: string): ParseResult<string> {
  return KEY.test(text) && text.length <= MAX_KEY_LENGTH ? { value: text } : { problem: KEY_FORM }
}

/** Reads `key`, `key:plan` or `label=key:plan`. */
export function readApiKey(text: string): ParseResult<ApiKey> {
  const [name = '', plan, ...rest] = text.split(':')
  if (rest.length > 0 || (plan !== undefined && !NAME.test(plan))) return { problem: API_KEY_FORM }
  // A key may end in "=", so a label must be followed by something else.
  const [, label, labelled] = /^([^=]*)=(?!=*$)(.*)$/.exec(name) ?? []
  const key = labelled ?? name
  if (label !== undefined && !NAME.test(label)) return { problem: API_KEY_FORM }
  const reading = readKey(key)
  if ('problem' in reading) return reading
  if (key === 'sandbox' && plan !== undefined)
    return { problem: 'must not have a plan: the key sandbox gets its plan from --plan' }
  return {
    value: { key, ...(label === undefined ? {} : { label }), ...(plan === undefined ? {} : { plan }) },
  }
}

/** Whether the contract has it, is checked at the start. */
export const planSchema = patternSchema(NAME, 'must be a plan of the contract')

export const keySchema = textSchema(KEY_FORM, readKey)
export const apiKeySchema = textSchema(API_KEY_FORM, readApiKey)

const LIMITS_FORM = 'must be requests per minute, per day or both, for example 5000/min,200000/day'
const LIMITS_PART = /^(\d{1,12})\/(min|day)$/
const WINDOWS = { min: 'perMinute', day: 'perDay' } as const

/** Reads `5000/min,200000/day`, or one of both. */
export function readLimits(text: string): ParseResult<Partial<Limits>> {
  const limits: { -readonly [Window in keyof Limits]?: number } = {}
  for (const part of text.split(',')) {
    const match = LIMITS_PART.exec(part)
    if (match === null) return { problem: LIMITS_FORM }
    const window = WINDOWS[match[2] as keyof typeof WINDOWS]
    if (limits[window] !== undefined) return { problem: `must name each window once (${match[2]} appears twice)` }
    limits[window] = Number(match[1])
  }
  return { value: limits }
}

export function formatLimits({ perMinute, perDay }: Partial<Limits>): string {
  return [perMinute === undefined ? [] : [`${perMinute}/min`], perDay === undefined ? [] : [`${perDay}/day`]]
    .flat()
    .join()
}

const limitsTextSchema = textSchema(LIMITS_FORM, readLimits)

const USED_FORM = 'must be requests of the minute, the day or both, for example 57/min,990/day, all-3/min or all'
const USED_PART = /^(?:(\d{1,12})|all(?:-(\d{1,12}))?)(?:\/(min|day))?$/

/** Reads `57/min,990/day`, `all-3/min`, or for both windows `all` or `all-3`. */
function readUsed(text: string): ParseResult<UsedUp> {
  const used: { -readonly [Window in keyof UsedUp]: UsedUp[Window] } = {}
  for (const part of text.split(',')) {
    const [, count, left = '0', window] = USED_PART.exec(part) ?? []
    const isWhole = window === undefined
    if (!USED_PART.test(part) || (isWhole && (count !== undefined || part !== text))) return { problem: USED_FORM }
    for (const name of isWhole ? (['min', 'day'] as const) : [window as keyof typeof WINDOWS]) {
      if (used[WINDOWS[name]] !== undefined) return { problem: `must name each window once (${name} appears twice)` }
      used[WINDOWS[name]] = count === undefined ? { left: Number(left) } : Number(count)
    }
  }
  return { value: used }
}

const requests = v.exactOptional(wholeNumber(0))

const limitsMapSchema = v.pipe(
  mapSchema({ perMinute: requests, perDay: requests }, LIMITS_FORM),
  v.check((limits) => limits.perMinute !== undefined || limits.perDay !== undefined, LIMITS_FORM),
)

export const limitsSchema = v.union([limitsTextSchema, limitsMapSchema], LIMITS_FORM)
export const usedSchema = v.union([textSchema(USED_FORM, readUsed), limitsMapSchema], USED_FORM)
