import * as v from 'valibot'
import { INT64_MAXIMUM, INT64_MINIMUM, type Int64 } from '../../contract/int64.js'
import { PET_STATUSES } from '../../domain/pets.js'
import { oneOf } from './reading.js'

export const int64Schema = v.custom<Int64>(
  (value) =>
    typeof value === 'bigint' ? value >= INT64_MINIMUM && value <= INT64_MAXIMUM : Number.isSafeInteger(value),
  `must be a whole number from ${INT64_MINIMUM} to ${INT64_MAXIMUM}`,
)

/** The fields of a pet, each for itself. */
export const petFields = { name: v.string('must be a string'), categoryId: int64Schema, status: oneOf(PET_STATUSES) }
