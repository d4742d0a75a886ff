import { describe, expect, it } from 'vitest'
import type { Conduct } from '../../src/conduct/conduct-view.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { LOSSES } from '../support/losses.js'
import { type TestSandbox, transports } from '../support/transports.js'

const REX = { name: 'Rex', categoryId: 1 }

/** Sends a pet, and gives up if there is no response. */
async function send(sandbox: TestSandbox, body: unknown): Promise<void> {
  const leave = new AbortController()
  const last = async () => Object((await sandbox.control('GET', '/requests')).json)[0]
  const sent = sandbox.call('/v1/pets', { method: 'POST', body, signal: leave.signal }).catch(() => {})
  await expect.poll(last).toMatchObject({ operation: 'createPet' })
  if ((await last()).fault === 'hang') {
    leave.abort()
    await expect.poll(last).toMatchObject({ ended: 'left' })
  }
  await sent
}

async function repeatedWrites(sandbox: TestSandbox) {
  const { violations, warnings } = (await sandbox.control('GET', '/conduct')).json as unknown as Conduct
  return [...violations, ...warnings].filter(({ rule }) => rule.startsWith('repeated-write'))
}

describe.each(transports)('a POST that is repeated, %s', (name, openSandbox) => {
  const open = (fault: NonNullable<SandboxOptions['fault']>) =>
    openSandbox({ fault, generate: ['pets=1'], limits: '100/min' })
  const known = name.includes('replica') ? /^repeated-write/ : /^repeated-write$/

  it.each(LOSSES)('after its response was lost by %s is found, once', async (fault) => {
    const sandbox = await open(`createPet:${fault},after*1`)
    await send(sandbox, REX)
    await sandbox.advance('5s')
    await sandbox.post('/pets', REX)
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toMatchObject([{ rule: expect.stringMatching(known), count: 1 }])
  })

  it.each([
    ['23h', 1],
    ['24h', 0],
  ])('%s after its response was lost is found only within a day', async (later, found) => {
    const sandbox = await open('createPet:503,after*1')
    await send(sandbox, REX)
    await sandbox.advance(later)
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toHaveLength(found)
  })

  it('after its response was lost and the collection was read is not reported', async () => {
    const sandbox = await open('createPet:503,after*1')
    await send(sandbox, REX)
    await sandbox.advance('5s')
    await sandbox.get('/pets?status=available')
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toEqual([])
  })

  it.each([
    ['a 400', '/pets?limit=0', {}, ''],
    ['a forced 401', '/pets', { prefer: 'code=401' }, ''],
    ['a forced 200, which has an example', '/pets', { prefer: 'code=200' }, ''],
    ["a fault's 404", '/pets', {}, 'listPets:404*1'],
    ["a fault's own 200", '/pets', {}, 'listPets:200*1:[]'],
    ["a fault's 503 after the list was made", '/pets', {}, 'listPets:503,after*1'],
    ['half of the list', '/pets', {}, 'listPets:truncated-body,after*1'],
  ])(
    'after its response was lost and the collection was not received is found: %s',
    async (_what, path, headers, fault) => {
      const sandbox = await open('createPet:503,after*1')
      await send(sandbox, REX)
      await sandbox.advance('5s')
      if (fault !== '') await sandbox.control('PUT', '/faults', [fault])
      await sandbox.call(`/v1${path}`, { headers }).catch(() => {})
      await sandbox.post('/pets', REX)
      expect(await repeatedWrites(sandbox)).toHaveLength(1)
    },
  )

  it('after its response was lost and only the head of the collection was read is found', async () => {
    const sandbox = await open('createPet:503,after*1')
    await send(sandbox, REX)
    await sandbox.advance('5s')
    await sandbox.call('/v1/pets', { method: 'HEAD' })
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toHaveLength(1)
  })

  it('after its response was lost and the collection was read, changed by a fault, is not reported', async () => {
    const sandbox = await open('createPet:503,after*1')
    await send(sandbox, REX)
    await sandbox.advance('5s')
    await sandbox.control('PUT', '/faults', ['listPets:unknown-fields'])
    await sandbox.get('/pets')
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toEqual([])
  })

  it('after its response was lost and one pet was read is found', async () => {
    const sandbox = await open('createPet:503,after*1')
    await send(sandbox, REX)
    await sandbox.get('/pets/1')
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toHaveLength(1)
  })

  it.each(['connection-reset', '503'])('after %s without a write is not reported', async (fault) => {
    const sandbox = await open(`createPet:${fault}*1`)
    await send(sandbox, REX)
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toEqual([])
  })

  it('is reported with both requests, and what to do', async () => {
    const sandbox = await open('createPet:503*1,after')
    await sandbox.post('/pets', REX)
    await sandbox.post('/pets', REX)
    const message =
      /^POST \/v1\/pets was (?:probably )?repeated although it had been stored\. Response 1 \(.*\) was 503 without Retry-After; .* Read the collection/
    expect(await repeatedWrites(sandbox)).toMatchObject([
      { message: expect.stringMatching(message), disobeyed: { exchange: 1, status: 503 }, exchanges: [2] },
    ])
  })

  it('is not reported if both responses were received, bodies or keys differ, or reads failed only after it', async () => {
    const sandbox = await open('createPet:connection-reset*1,after')
    await send(sandbox, REX)
    await sandbox.post('/pets', { ...REX, name: 'Ada' })
    await sandbox.post('/pets', { ...REX, name: 'Ada' })
    await sandbox.post('/pets', REX, 'sandbox-pro')
    expect(await repeatedWrites(sandbox)).toEqual([])
  })

  it('is reported if the read failed', async () => {
    const sandbox = await open(['createPet:connection-reset*1,after', 'listPets:503*1'])
    await send(sandbox, REX)
    expect(await sandbox.get('/pets')).toMatchObject({ status: 503 })
    await sandbox.post('/pets', REX)
    expect(await repeatedWrites(sandbox)).toHaveLength(1)
  })

  it('is not reported after a reset or a restored snapshot', async () => {
    const sandbox = await open('createPet:connection-reset,after')
    await sandbox.control('PUT', '/snapshots/kept')
    await send(sandbox, REX)
    await sandbox.control('POST', '/snapshots/kept/restore')
    await send(sandbox, REX)
    await sandbox.control('POST', '/reset')
    await send(sandbox, REX)
    expect(await repeatedWrites(sandbox)).toEqual([])
  })
})
