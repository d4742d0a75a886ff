import { expect, it } from 'vitest'
import { readRedisAddress } from '../../src/domain/redis-address.js'

const PLAIN = { isEncrypted: false, database: 0, user: 'default', password: undefined }

it.each([
  ['redis://127.0.0.1:6379', { ...PLAIN, at: { host: '127.0.0.1', port: 6379 }, shown: 'redis://127.0.0.1:6379' }],
  ['redis://redis', { ...PLAIN, at: { host: 'redis', port: 6379 }, shown: 'redis://redis:6379' }],
  ['redis://[::1]:7000/', { ...PLAIN, at: { host: '::1', port: 7000 }, shown: 'redis://[::1]:7000' }],
  [
    'rediss://shop:s3cr%2Ft%40@redis.example:6380/2',
    {
      isEncrypted: true,
      at: { host: 'redis.example', port: 6380 },
      database: 2,
      user: 'shop',
      password: 's3cr/t@',
      shown: 'rediss://redis.example:6380/2',
    },
  ],
  [
    'redis://:s3cret@127.0.0.1',
    { ...PLAIN, at: { host: '127.0.0.1', port: 6379 }, password: 's3cret', shown: 'redis://127.0.0.1:6379' },
  ],
  ['unix:///run/redis.sock', { ...PLAIN, at: { path: '/run/redis.sock' }, shown: 'unix:///run/redis.sock' }],
  [
    'redis+unix://shop:s3cret@/run/a%20b.sock?db=3',
    {
      ...PLAIN,
      at: { path: '/run/a b.sock' },
      database: 3,
      user: 'shop',
      password: 's3cret',
      shown: 'unix:///run/a%20b.sock?db=3',
    },
  ],
])('the address of a Redis %s is understood', (text, address) => expect(readRedisAddress(text)).toEqual(address))

const invalid = `
  127.0.0.1:6379 http://shop:s3cret@127.0.0.1 redis:// redis://shop:s3cret/x@127.0.0.1
  redis://shop:s3cret#x@127.0.0.1 redis://shop:s3cret%@127.0.0.1 redis://shop:s3cret@127.0.0.1:99999
  redis://shop:s3cret@127.0.0.1/two redis://shop:s3cret@127.0.0.1?db=2 unix://shop:s3cret@run/redis.sock
  unix:///run/redis.sock?password=s3cret
`
it.each(['', ...invalid.trim().split(/\s+/)])(
  'the address of a Redis %j is invalid, and the error does not show it',
  (text) => {
    const read = readRedisAddress(text)
    expect(read).toEqual({ problem: expect.stringMatching(/^must be an address such as redis:/) })
    expect(JSON.stringify(read)).not.toMatch(/shop|s3cret/)
  },
)
