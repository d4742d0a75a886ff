import { expect, it, onTestFinished } from 'vitest'
import { RedisLink } from '../../src/replication/redis.js'
import { RedisAppends } from '../../src/replication/redis-appends.js'
import { redisKeys } from '../../src/replication/redis-scripts.js'

it('waits for Redis in many logs of a process without a warning about listeners', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error) => void warnings.push(name)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const unreachable = () => new Promise<never>(() => {})
  const links = Array.from(
    { length: 20 },
    () => new RedisLink(unreachable, String, { available: () => {}, unavailable: () => {} }),
  )
  const runs = links.map((link) => new RedisAppends(link, redisKeys('a group')).run())
  await new Promise(setImmediate)
  for (const link of links) link.close()
  await Promise.all(runs)
  expect(warnings).toEqual([])
})
