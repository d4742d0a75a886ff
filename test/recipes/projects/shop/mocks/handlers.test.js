import { setupServer } from 'msw/node'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { handlers, sandbox } from './handlers'

const server = setupServer(...handlers)
beforeAll(() => server.listen({ onUnhandledRequest: 'error' }))
beforeEach(() => sandbox.reset())
afterAll(() => server.close())

function pets(init = {}) {
  const headers = { Authorization: 'Bearer sandbox-free', 'Content-Type': 'application/json' }
  return fetch('https://api.example.com/v1/pets', { ...init, headers })
}

test('keeps what is written', async () => {
  const added = await pets({ method: 'POST', body: JSON.stringify({ name: 'Rex', categoryId: 1 }) })
  expect(added.status).toBe(201)
  expect((await (await pets()).json())[0]).toEqual(await added.json())
})

test('is served again when the minute is over', async () => {
  for (let request = 0; request < 60; request++) expect((await pets()).status).toBe(200)
  const refused = await pets()
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
  await sandbox.clock.advance('1m')
  expect((await pets()).status).toBe(200)
  expect((await sandbox.conduct()).violations).toEqual([])
})

test('fails as a network does', async () => {
  await sandbox.faults.set(['listPets:connection-reset*1'])
  await expect(pets()).rejects.toThrow(TypeError)
  expect((await pets()).status).toBe(200)
})
