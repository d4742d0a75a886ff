import { REDIS_ADDRESS_FORM, readRedisAddress } from '../../domain/redis-address.js'
import { textSchema } from './reading.js'

/** It stays the text that it is: what it holds may be a password, which only the door to Redis reads. */
export const redisAddressSchema = textSchema(REDIS_ADDRESS_FORM, (text) => {
  const address = readRedisAddress(text)
  return 'problem' in address ? address : { value: text }
})

const GROUP_FORM = 'must be the name of a group: 1 to 64 of A-Z a-z 0-9 . _ -'

export const groupSchema = textSchema<string>(GROUP_FORM, (text) =>
  /^[A-Za-z0-9._-]{1,64}$/.test(text) ? { value: text } : { problem: GROUP_FORM },
)
