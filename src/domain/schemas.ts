import * as v from 'valibot'
import { INT64_MAXIMUM, INT64_MINIMUM, type Int64 } from '../contract/int64.js'
import { PET_STATUSES } from './pets.js'

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

/** The fields of a packaged pet, with the messages of a file of the user or of the store. */
export function petFields(messages: { readonly text: string; readonly int64?: Message; readonly status: string }) {
  const int64 = int64Schema(messages.int64)
  const status = v.exactOptional(v.picklist(PET_STATUSES, messages.status))
  return { id: int64, name: v.string(messages.text), categoryId: int64, status }
}
