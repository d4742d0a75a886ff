import { afterAll, describe, expect, it } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { exchange, KEYED } from '../support/raw-http.js'

/** Half a megabyte: each character has two units in UTF-16 and four bytes in UTF-8. */
const NAME = '🐱'.repeat(250_000)
const COUNT = 8

describe('a response of many megabytes', async () => {
  const sandbox = await startSandbox({ noRateLimit: true })
  afterAll(() => sandbox.close())
  for (let i = 0; i < COUNT; i++) await sandbox.records.add('pets', { name: `${i} ${NAME}`, categoryId: i })
  const list = () => fetch(`${sandbox.baseUrl}/pets?limit=${COUNT}`, { headers: { authorization: 'Bearer sandbox' } })

  it('is complete from service and control plane, and its beginning is logged', async () => {
    const names = Array.from({ length: COUNT }, (_, i) => `${COUNT - 1 - i} ${NAME}`)
    const pets = (await (await list()).json()) as readonly { name: string }[]
    expect(pets.map(({ name }) => name).every((name, i) => name === names[i])).toBe(true)
    const context = (await (await fetch(`${sandbox.controlUrl}/resources/pets?limit=${COUNT}`)).json()) as typeof pets
    expect(context.every(({ name }, i) => name === names[i])).toBe(true)
    const [logged] = await sandbox.requests({ limit: 1 })
    expect(logged?.response.body).toMatch(/^\[\{"id":\d+,"name":"7 🐱/)
    expect(logged?.response.body.length).toBeLessThanOrEqual(64 * 1024)
  })

  it('keeps its place among pipelined responses', async () => {
    const port = Number(new URL(sandbox.baseUrl).port)
    const one = (target: string, more = '') => `GET ${target} HTTP/1.1\r\n${KEYED}${more}\r\n`
    const got = await exchange(
      port,
      one(`/v1/pets?limit=${COUNT}`) +
        one('/v1/pets/1') +
        one('/__sandbox/resources/pets') +
        one('/v1/pets/2', 'Connection: close\r\n'),
    )
    const order = ['"7 🐱', '"id":1,', '"7 🐱', '"id":2,']
    let at = 0
    for (const sign of order) {
      at = got.indexOf(sign, at)
      expect(at).toBeGreaterThan(0)
      at = got.indexOf('HTTP/1.1 200', at)
    }
  })

  it('has the pets at the time of the request, even if they change while it is read', async () => {
    const [service, control] = await Promise.all([list(), fetch(`${sandbox.controlUrl}/resources/pets?limit=${COUNT}`)])
    await sandbox.reset()
    expect(await service.json()).toHaveLength(COUNT)
    expect(await control.json()).toHaveLength(COUNT)
  })
})
