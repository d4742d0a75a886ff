import * as v from 'valibot'
import { type EpochMs, MINUTE_MS } from '../../domain/time.js'
import { type ParseResult, textSchema } from './reading.js'

const FORM = 'must be an instant such as 2026-03-01T10:00:00Z or 2026-03-01T10:00:00+02:00, or a date (midnight UTC)'
const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d)))?$/

/** The clock starts within these: from the epoch on, so that headers hold no negative times, to the last year of four digits. */
const FIRST = 0
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Reads an instant of ISO 8601 with Z or an offset, or a bare date.
 *
 * Not Date.parse, which takes 2026-02-30 for 2 March and a time
 * without an offset for local time.
 */
export function readInstant(text: string): ParseResult<EpochMs> {
  const match = INSTANT.exec(text)
  if (match === null) return { problem: FORM }
  const [, year, month, day, hour = 0, minute = 0, second = 0, fraction = '', sign, offsetHour = 0, offsetMinute = 0] =
    match
  const parts = [year, month, day, hour, minute, second].map(Number)
  const [y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0] = parts
  const at = Date.UTC(y, mo - 1, d, h, mi, s, Number(fraction.padEnd(3, '0').slice(0, 3)))
  const read = new Date(at)
  const same = [
    read.getUTCFullYear(),
    read.getUTCMonth() + 1,
    read.getUTCDate(),
    read.getUTCHours(),
    read.getUTCMinutes(),
    read.getUTCSeconds(),
  ].every((part, index) => part === parts[index])
  if (!same) return { problem: 'must be a date and time that exist' }
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return { problem: 'must have an offset of at most 23:59' }
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS
  const value = sign === '-' ? at + offset : at - offset
  if (value < FIRST || value > LAST) return { problem: 'must be from 1970-01-01 to 9999-12-31' }
  return { value }
}

/** An instant as text. */
const instantTextSchema = textSchema(FORM, readInstant)

/** An instant as text or, in programs, as a Date. */
export const instantSchema = v.union(
  [
    instantTextSchema,
    v.pipe(
      v.date(FORM),
      v.transform((date) => date.getTime()),
      v.minValue(FIRST, 'must be from 1970-01-01 to 9999-12-31'),
      v.maxValue(LAST, 'must be from 1970-01-01 to 9999-12-31'),
    ),
  ],
  FORM,
)
