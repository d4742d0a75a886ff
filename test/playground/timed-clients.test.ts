import { expect, it, onTestFinished } from 'vitest'
import { openWithCore } from '../../src/browser/with-core.js'
import { TimedClients } from '../../src/playground/timed-clients.js'

const START = Date.parse('2026-03-01T12:00:00Z')

async function open() {
  const opened = await openWithCore({ seed: 1, now: '2026-03-01T12:00:00Z', freeze: true })
  onTestFinished(() => opened.sandbox.close())
  return { space: opened.sandbox.space('lane'), clients: new TimedClients(opened) }
}

it('sends each request at its instant, and knows that the client had the response before', async () => {
  const { space, clients } = await open()
  for (let n = 0; n < 60; n++)
    expect(await clients.send('lane', START + n)).toMatchObject({ status: 200, at: START + n })
  const refused = { status: 429, retryAfter: 59, isBanned: false, at: START + 1000 }
  expect(await clients.send('lane', START + 1000)).toEqual(refused)
  await clients.send('lane', START + 2000)
  const { violations, warnings } = await space.conduct()
  expect([...violations, ...warnings].map(({ rule, count }) => [rule, count])).toEqual([['early-retry', 1]])
  await space.ban('sandbox-free', { for: '1m' })
  expect(await clients.send('lane', START + 3000)).toMatchObject({ status: 429, retryAfter: 59, isBanned: true })
})

it('moves the clock by a latency, and reports a broken connection', async () => {
  const { space, clients } = await open()
  await space.settings.change({ latency: '800ms' })
  expect(await clients.send('lane', START)).toMatchObject({ status: 200, at: START + 800 })
  await space.faults.set(['*:connection-reset'])
  const broken = { status: 0, retryAfter: null, isBanned: false, at: START + 1800 }
  expect(await clients.send('lane', START + 1000)).toEqual(broken)
})

it('refuses an instant in the past', async () => {
  const { clients } = await open()
  await clients.send('lane', START + 1)
  await expect(clients.send('lane', START)).rejects.toThrow('The clock only goes forward')
})
