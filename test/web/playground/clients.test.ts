import { expect, it } from 'vitest'
import { openClients, receive, verdictOf } from '../../../src/web/playground/clients.js'
import type { TimedResponse } from '../../../src/web/playground/worker-messages.js'

const refused: TimedResponse = { status: 429, retryAfter: 30, isBanned: false, at: 0 }

function nextAfter(responses: readonly TimedResponse[], own = '0'): Record<string, number> {
  const clients = openClients(own, 0)
  for (const client of clients) for (const response of responses) receive(client, { ...response, at: client.nextAt })
  return Object.fromEntries(clients.map(({ space, nextAt }) => [space, nextAt]))
}

function openClient(place: number) {
  const client = openClients('0', 0).at(place)
  if (client === undefined) throw new Error('There are clients.')
  return client
}

it('lists twice a second while requests succeed', () => {
  const served = { ...refused, status: 200, retryAfter: null }
  expect(new Set(Object.values(nextAfter([served, served])))).toEqual(new Set([1000]))
})

it('drops a refused request, waits a second, or as long as Retry-After says', () => {
  expect(nextAfter([refused])).toMatchObject({ 'no-retry': 500, 'every-second': 1000, 'retry-after': 30_000 })
})

it('waits 50 ms at least, and an hour at most', () => {
  expect(nextAfter([refused]).yours).toBe(50)
  expect(nextAfter([refused], '1e9').yours).toBe(3_600_000)
})

it('continues after a slow response', () => {
  const client = openClient(0)
  receive(client, { ...refused, status: 200, at: 800 })
  expect(client.nextAt).toBe(800)
})

it('shows the last outcome of each half second', () => {
  const yours = openClient(-1)
  receive(yours, { ...refused, status: 0, at: 0 })
  receive(yours, refused)
  expect(yours.marks).toEqual(['limited'])
  expect(yours.counts).toEqual({ served: 0, broken: 1, limited: 1, banned: 0 })
})

it('is banned until the end of the ban', () => {
  const client = openClient(0)
  receive(client, { ...refused, isBanned: true })
  expect([29_999, 30_000].map((now) => verdictOf(client, now))).toEqual(['banned', 'unjudged'])
})
