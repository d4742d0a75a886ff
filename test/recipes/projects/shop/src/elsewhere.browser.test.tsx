import * as entry from 'petstore-sandbox'
import * as client from 'petstore-sandbox/client'
import { expect, test } from 'vitest'

const { VITE_API_URL, VITE_CONTROL_URL } = import.meta.env

test('has only the client of what it imports as in Node, and needs nothing of Node for it', () => {
  expect('process' in globalThis).toBe(false)
  expect(Object.keys(entry)).toContain('connectSandbox')
  expect(Object.keys(entry)).toEqual(Object.keys(client))
})

test('controls the sandbox that it asks', async () => {
  const space = entry.connectSandbox(VITE_CONTROL_URL).space('elsewhere')
  const listPets = () => fetch(`${VITE_API_URL}/pets`, { headers: { Authorization: `Bearer ${space.key()}` } })
  await space.storm.start({ rate: 1 })
  expect((await listPets()).status).toBe(429)
  await space.storm.stop()
  await space.clock.advance('1m')
  expect((await listPets()).status).toBe(200)
})
