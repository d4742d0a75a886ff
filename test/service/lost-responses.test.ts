import { describe, expect, it } from 'vitest'
import type { SandboxOptions } from '../../src/options/options.js'
import { type TestSandbox, transports } from '../support/transports.js'

const REX = { name: 'Rex', categoryId: 1 }

async function names(sandbox: TestSandbox): Promise<readonly unknown[]> {
  const { json } = await sandbox.get('/pets?limit=2')
  return (json as readonly { name: string }[]).map(({ name }) => name)
}

describe.each(transports)('a fault after the operation, %s', (_name, openSandbox) => {
  const open = (fault: NonNullable<SandboxOptions['fault']>) => openSandbox({ fault, generate: ['pets=1'] })

  it.each(['connection-reset', 'empty-response', 'truncated-body', 'malformed-chunk'])(
    'keeps the write, and loses its response by %s',
    async (fault) => {
      const sandbox = await open(`createPet:${fault}*1,after`)
      await expect(sandbox.post('/pets', REX)).rejects.toThrow()
      expect((await names(sandbox))[0]).toBe('Rex')
      expect(await sandbox.post('/pets', { ...REX, name: 'Ada' })).toMatchObject({ status: 201 })
    },
  )

  it('keeps the write, and sends another status', async () => {
    const sandbox = await open('createPet:503*1,retry-after=2s,after')
    const lost = { status: 503, code: 'simulated_fault', reason: 'fault', retryAfter: '2' }
    expect(await sandbox.post('/pets', REX)).toMatchObject(lost)
    expect((await names(sandbox))[0]).toBe('Rex')
    expect((await sandbox.control('GET', '/requests')).json).toMatchObject([{ status: 503, created: '2' }, {}])
  })

  it('is not used up by requests that do not reach the operation', async () => {
    const sandbox = await open('createPet:503*1,after')
    expect(await sandbox.post('/pets', { name: 'Rex' })).toMatchObject({ status: 400 })
    expect(await sandbox.post('/pets', REX, 'sandbox-limited')).toMatchObject({ status: 429 })
    expect((await sandbox.control('GET', '/faults')).json).toMatchObject([{ phase: 'after', left: 1 }])
    expect(await sandbox.post('/pets', REX)).toMatchObject({ status: 503 })
    expect((await sandbox.control('GET', '/faults')).json).toMatchObject([{ phase: 'after', left: 0 }])
  })

  it.each(['slow-body', 'unknown-fields', 'enum-growth'])('%s is the same with and without `after`', async (fault) => {
    const left = async (rule: string) => {
      const sandbox = await openSandbox({ fault: rule })
      await sandbox.get('/pets?limit=0')
      return (await sandbox.control('GET', '/faults')).json
    }
    expect(await left(`listPets:${fault}*1,after`)).toMatchObject([{ left: 1 }])
    expect(await left(`listPets:${fault}*1`)).toMatchObject([{ left: 1 }])
  })

  it('comes in the order of the rules', async () => {
    const sandbox = await open(['createPet:503*1,after', 'createPet:500*1,before', 'createPet:502*1'])
    const seen = []
    for (const name of ['A', 'B', 'C', 'D']) seen.push((await sandbox.post('/pets', { ...REX, name })).status)
    expect(seen).toEqual([503, 500, 502, 201])
    expect(await names(sandbox)).toEqual(['D', 'A'])
  })
})
