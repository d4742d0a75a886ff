import { type ParseResult, textSchema } from './reading.js'

const ADDRESS_FORM = 'must be the address of a Redis, for example redis://127.0.0.1:6379 or rediss://host:6380/0'

/** The address itself is read, and may be refused, by the door to Redis. */
function readAddress(text: string): ParseResult<string> {
  return /^(?:rediss?|unix):\/\/./.test(text) ? { value: text } : { problem: ADDRESS_FORM }
}

export const redisAddressSchema = textSchema(ADDRESS_FORM, readAddress)

const GROUP_FORM = 'must be the name of a group: 1 to 64 of A-Z a-z 0-9 . _ -'

export const groupSchema = textSchema<string>(GROUP_FORM, (text) =>
  /^[A-Za-z0-9._-]{1,64}$/.test(text) ? { value: text } : { problem: GROUP_FORM },
)
