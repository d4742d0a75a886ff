import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('concurrent verbs, %s', (_name, openSandbox) => {
  it('run one after the other', async () => {
    const sandbox = await openSandbox()
    await Promise.all([
      sandbox.control('PATCH', '/resources/pets/6', { name: 'A' }),
      sandbox.control('PATCH', '/resources/pets/6', { status: 'sold' }),
    ])
    expect((await sandbox.get('/pets/6')).json).toMatchObject({ name: 'A', status: 'sold' })
    const added = await Promise.all([1, 2].map(() => sandbox.control('POST', '/keys', { key: 'same' })))
    expect(added.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe.each(transports)('a pet of the fixtures, %s', (_name, openSandbox) => {
  it('has its fields in the contract’s order on the control plane', async () => {
    const sandbox = await openSandbox()
    const { json } = await sandbox.control('GET', '/resources/pets?limit=1')
    expect(JSON.stringify(json)).toBe((await sandbox.get('/pets?limit=1')).text)
  })
})

describe.each(transports)('pets as a resource, %s', (_name, openSandbox) => {
  it('are added, changed, listed and removed by the verbs of every resource', async () => {
    const sandbox = await openSandbox()
    const resources = (await sandbox.control('GET', '/resources')).json
    expect(resources).toMatchObject([
      { name: 'pets', path: '/pets', id: 'id', parents: [], records: 60 },
      { name: 'orders', records: 6 },
    ])
    const added = await sandbox.control('POST', '/resources/pets', { name: 'Rex', categoryId: 1 })
    expect(added).toMatchObject({ status: 200, json: { id: 60, name: 'Rex', categoryId: 1 } })
    const sold = await sandbox.control('PATCH', '/resources/pets/60', { status: 'sold' })
    expect(sold.json).toEqual({ ...added.json, status: 'sold' })
    expect((await sandbox.get('/pets/60')).json).toEqual(sold.json)
    expect((await sandbox.control('GET', '/resources/pets?limit=1')).json).toEqual([sold.json])
    expect((await sandbox.control('PATCH', '/resources/pets/60', { status: null })).json).toEqual(added.json)
    expect((await sandbox.control('DELETE', '/resources/pets/60')).json).toEqual({ removed: 60 })
    expect((await sandbox.get('/pets/60')).status).toBe(404)
    expect((await sandbox.control('POST', '/undo')).json).toMatchObject({ undone: 'records.remove' })
    expect((await sandbox.get('/pets/60')).status).toBe(200)
    const named = await sandbox.control('POST', '/resources/pets', { id: '70', name: 'Rex', categoryId: 1 })
    expect(named.json).toEqual({ id: 70, name: 'Rex', categoryId: 1 })
  })

  it.each([
    ['POST', '/resources/pets', { name: 'Rex' }, 400, /categoryId is required/],
    ['POST', '/resources/pets', { name: 'Rex', categoryId: 1, colour: 'red' }, 400, /pets has no field "colour"/],
    ['POST', '/resources/pets', { id: 1, name: 'Rex', categoryId: 1 }, 409, /already has a record with the id "1"/],
    [
      'POST',
      '/resources/pets',
      { id: 'x', name: 'Rex', categoryId: 1 },
      400,
      /id must be a whole number .* \(it is "x"\)/,
    ],
    [
      'POST',
      '/resources/pets',
      { id: 1.5, name: 'Rex', categoryId: 1 },
      400,
      /id must be a whole number .* \(it is 1.5\)/,
    ],
    ['PATCH', '/resources/pets/1', { name: 7 }, 400, /name must be/],
    ['PATCH', '/resources/pets/1', { id: 2 }, 400, /id is set by the path/],
    ['PATCH', '/resources/pets/1', { id: 2, name: 'X' }, 400, /id/],
    ['PATCH', '/resources/pets/4711', { name: 'Rex' }, 404, /pets has no record "4711"/],
    ['GET', '/resources/pest', undefined, 404, /no resource "pest"; did you mean pets\?.*pets, orders/],
  ])('refuses %s %s with %o', async (method, path, body, status, message) => {
    const sandbox = await openSandbox()
    const seen = await sandbox.control(method, path, body)
    expect(seen).toMatchObject({ status, json: { message: expect.stringMatching(message) } })
    expect((await sandbox.control('GET', '/resources')).json).toMatchObject([{ records: 60 }, {}])
  })
})
