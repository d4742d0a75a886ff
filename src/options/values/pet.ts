import * as v from 'valibot'
import { INT64_MAXIMUM, INT64_MINIMUM, type Int64 } from '../../contract/int64.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { oneOf } from './reading.js'

export const int64Schema = v.custom<Int64>(
  (value) =>
    typeof value === 'bigint' ? value >= INT64_MINIMUM && value <= INT64_MAXIMUM : Number.isSafeInteger(value),
  ({ input }) =>
    typeof input === 'number' && Number.isInteger(input) && Math.abs(input) < 2 ** 63
      ? 'is not exact as a number: from 2^53 on, write it as a bigint, such as 9007199254740993n'
      : `must be a whole number from ${INT64_MINIMUM} to ${INT64_MAXIMUM}`,
)

export const petFields = { name: v.string('must be a string'), categoryId: int64Schema, status: oneOf(PET_STATUSES) }
