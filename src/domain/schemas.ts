import * as v from 'valibot'
import { INT64_MAXIMUM, INT64_MINIMUM, type Int64 } from '../contract/int64.js'

/** A number from 2^53 on is not exact. */
function isInt64(value: unknown): value is Int64 {
  return typeof value === 'bigint' ? value >= INT64_MINIMUM && value <= INT64_MAXIMUM : Number.isSafeInteger(value)
}

type Message = string | v.ErrorMessage<v.CustomIssue>

const INT64_FORM: Message = ({ input }) =>
  typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63
    ? 'is not exact as a number: from 2^53 on, write it as a bigint, such as 9007199254740993n'
    : `must be a whole number from ${INT64_MINIMUM} to ${INT64_MAXIMUM}`

export function int64Schema(message: Message = INT64_FORM) {
  return v.custom<Int64>(isInt64, message)
}

/** Names that valibot drops from a record, without an issue. */
const DROPPED = ['__proto__', 'prototype', 'constructor']

/** An object of any names. */
export function recordSchema<const Key extends v.GenericSchema<string, string>, const Value extends v.GenericSchema>(
  key: Key,
  value: Value,
  message: string,
) {
  const schema = v.record(key, value, message)
  const entry = v.object({ key, value })
  return {
    ...schema,
    '~run'(dataset, config) {
      const input = Object(dataset.value)
      const result = schema['~run'](dataset, config)
      for (const name of DROPPED) {
        if (!Object.hasOwn(input, name)) continue
        const { issues = [], output } = v.safeParse(entry, { key: name, value: input[name] })
        const place = { type: 'object', origin: 'value', input, key: name, value: input[name] } as const
        const found = issues.map(({ path = [], ...issue }) => ({ ...issue, path: [place, ...path.slice(1)] }))
        if (found.length > 0) Object.assign(result, { typed: false, issues: [...(result.issues ?? []), ...found] })
        // Not an assignment, which would set the prototype.
        Object.defineProperty(result.value, name, { ...WRITABLE, value: Object(output).value })
      }
      return result
    },
  } as typeof schema
}

const WRITABLE = { enumerable: true, writable: true, configurable: true }
