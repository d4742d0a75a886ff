import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

const REX = { name: 'Rex', categoryId: 1, status: 'sold' }
/** The packaged contract with PATCH and DELETE of pets, and with categories in an envelope. */
const GROWN = fileURLToPath(new URL('../contract/specs/grown.yaml', import.meta.url))

describe.each(transports)('a fault of the body, %s', (_name, openSandbox) => {
  it('adds an unknown field to each record, and keeps ids exact', async () => {
    const sandbox = await openSandbox({ fault: '*:unknown-fields', strict: true })
    const { status, text, json, reason } = await sandbox.get('/pets?limit=5')
    expect([status, reason]).toEqual([200, 'fault'])
    expect(json).toHaveLength(5)
    for (const pet of json as object[]) expect(pet).toMatchObject({ unknownField: 'unknown-value' })
    const { text: known } = await (await openSandbox()).get('/pets?limit=5')
    expect(text.replaceAll(',"unknownField":"unknown-value"', '')).toBe(known)
  })

  it('replaces the values of enums, and stores what the client sent', async () => {
    const sandbox = await openSandbox({ fault: 'createPet:enum-growth*1' })
    const { status, json } = await sandbox.post('/pets', REX)
    expect([status, json]).toEqual([201, expect.objectContaining({ name: 'Rex', status: 'unknown-value' })])
    expect((await sandbox.get('/pets?status=sold&limit=1')).json).toMatchObject([REX])
    expect((await sandbox.control('GET', '/requests')).json).toMatchObject([
      { fault: 'enum-growth', reason: 'fault', status: 201, ended: 'sent' },
      { fault: null },
    ])
  })

  it('adds an unknown field to an envelope and to the records of any resource', async () => {
    const sandbox = await openSandbox({ spec: GROWN, fault: 'listCategories:unknown-fields' })
    await sandbox.post('/categories', { name: 'cats' })
    const unknown = { unknownField: 'unknown-value' }
    expect((await sandbox.get('/categories')).json).toMatchObject({ total: 1, items: [unknown], ...unknown })
  })

  it('does not count a response without anything to change as made up', async () => {
    const sandbox = await openSandbox({ fault: '*:enum-growth' })
    for (const sent of [await sandbox.get('/pets/1234'), await sandbox.post('/pets', { name: 'Rex', categoryId: 1 })])
      expect(sent.reason).toBeUndefined()
  })
})
