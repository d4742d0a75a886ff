import * as v from 'valibot'
import { type ClockStart, type EpochMs, MINUTE_MS, parseOffset } from '../../domain/time.js'
import { type ParseResult, textSchema } from './reading.js'

const FORM = 'must be an instant such as 2026-03-01T10:00:00Z or 2026-03-01T10:00:00+02:00, or a date (midnight UTC)'
const INSTANT = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d)))?$/

/** Bounds of the clock: headers hold no negative times, and ISO 8601 years have four digits. */
const MIN_INSTANT = 0
const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Unlike Date.parse, refuses 2026-02-30 and times without an offset. */
export function readInstant(written: string): ParseResult<EpochMs> {
  const match = INSTANT.exec(written)
  if (match === null) return { problem: FORM }
  const [, date, time = '00:00', second = '00', fraction = '', sign, offsetHour = 0, offsetMinute = 0] = match
  const text = `${date}T${time}:${second}`
  const at = Date.parse(`${text}.${fraction.padEnd(3, '0').slice(0, 3)}Z`)
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(text))
    return { problem: 'must be a date and time that exist' }
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return { problem: 'must have an offset of at most 23:59' }
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS
  const value = sign === '-' ? at + offset : at - offset
  if (value < MIN_INSTANT || value > MAX_INSTANT) return { problem: 'must be from 1970-01-01 to 9999-12-31' }
  return { value }
}

const instantTextSchema = textSchema(FORM, readInstant)

const dateSchema = v.pipe(
  v.date(FORM),
  v.transform((date) => date.getTime()),
  v.minValue(MIN_INSTANT, 'must be from 1970-01-01 to 9999-12-31'),
  v.maxValue(MAX_INSTANT, 'must be from 1970-01-01 to 9999-12-31'),
)

export const instantSchema = v.union([instantTextSchema, dateSchema], FORM)

const START_FORM = `${FORM}, or an offset: from real time such as +3h or -2d, from the first removal such as sunset-1m`

const startTextSchema = textSchema<ClockStart>(START_FORM, (text) => {
  const [, sunset, offset = ''] = /^(sunset)?([+-].*)$/.exec(text) ?? []
  const ahead = parseOffset(offset)
  if (ahead !== undefined) return { value: { ahead, ...(sunset && { from: 'sunset' as const }) } }
  return INSTANT.test(text) ? readInstant(text) : { problem: START_FORM }
})

export const clockStartSchema = v.union([startTextSchema, dateSchema], START_FORM)
