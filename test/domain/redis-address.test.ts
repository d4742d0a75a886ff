import { expect, it } from 'vitest'
import { readRedisAddress } from '../../src/domain/redis-address.js'

const PLAIN = { isEncrypted: false, database: 0, user: 'default', password: undefined }
const SHOP = { user: 'shop', password: 's3cr/t@' }

it.each([
  ['redis://127.0.0.1:6379', { host: '127.0.0.1', port: 6379 }, 'redis://127.0.0.1:6379', {}],
  ['redis://redis', { host: 'redis', port: 6379 }, 'redis://redis:6379', {}],
  ['redis://[::1]:7000/', { host: '::1', port: 7000 }, 'redis://[::1]:7000', {}],
  [
    'rediss://shop:s3cr%2Ft%40@redis.example:6380/2',
    { host: 'redis.example', port: 6380 },
    'rediss://redis.example:6380/2',
    { ...SHOP, isEncrypted: true, database: 2 },
  ],
  ['redis://:s3cret@h', { host: 'h', port: 6379 }, 'redis://h:6379', { password: 's3cret' }],
  ['unix:///run/redis.sock', { path: '/run/redis.sock' }, 'unix:///run/redis.sock', {}],
  [
    'redis+unix://shop:s3cr%2Ft%40@/run/a%20b.sock?db=3',
    { path: '/run/a b.sock' },
    'unix:///run/a%20b.sock?db=3',
    { ...SHOP, database: 3 },
  ],
])('the address of a Redis is understood: %s', (text, at, shown, more) =>
  expect(readRedisAddress(text)).toEqual({ ...PLAIN, at, shown, ...more }),
)

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
