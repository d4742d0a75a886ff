import { describe, expect, it } from 'vitest'
import { transports } from '../support/transports.js'

describe.each(transports)('concurrent verbs, %s', (_name, openSandbox) => {
  it('run one after the other', async () => {
    const sandbox = await openSandbox()
    await Promise.all([
      sandbox.control('PATCH', '/pets/6', { name: 'A' }),
      sandbox.control('PATCH', '/pets/6', { status: 'sold' }),
    ])
    expect((await sandbox.get('/pets/6')).json).toMatchObject({ name: 'A', status: 'sold' })
    const added = await Promise.all([1, 2].map(() => sandbox.control('POST', '/keys', { key: 'same' })))
    expect(added.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('cannot change a field of the path', async () => {
    const sandbox = await openSandbox()
    expect(await sandbox.control('PATCH', '/pets/1', { id: 2, name: 'X' })).toMatchObject({ status: 400 })
  })
})

describe.each(transports)('a pet of the fixtures, %s', (_name, openSandbox) => {
  it('has its fields in the contract’s order on the control plane', async () => {
    const sandbox = await openSandbox()
    const { json } = await sandbox.control('GET', '/pets?limit=1')
    expect(JSON.stringify(json)).toBe((await sandbox.get('/pets?limit=1')).text)
  })
})
