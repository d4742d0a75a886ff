import { describe, expect, it } from 'vitest'
import { createSandbox, type SandboxOptions } from '../../src/index.js'
import { temporaryFile } from '../support/temporary-files.js'

type Sandbox = Awaited<ReturnType<typeof createSandbox>>

const AT_TEN: SandboxOptions = { seed: 1, now: '2026-03-01T10:00:00Z' }

async function active(sandbox: Pick<Sandbox, 'state'>) {
  const { active } = await sandbox.state()
  return active.map(({ text, origin, left, hits, isOff }) => [text, origin, left, hits, isOff])
}

async function ask(sandbox: Sandbox, path = '/pets', key = 'sandbox') {
  const headers = { authorization: `Bearer ${key}` }
  const response = await sandbox.fetch(sandbox.baseUrl + path, { headers })
  await response.text()
  return response.status
}

describe('the active switches', () => {
  it('are none when the service responds as documented', async () => {
    await using sandbox = await createSandbox({ seed: 1 })
    expect(await active(sandbox)).toEqual([])
  })

  it('name the start option, the scenario or the user that they come from, and count what they hit', async () => {
    await using sandbox = await createSandbox({ ...AT_TEN, freeze: true, latency: '1ms', fault: 'listPets:503*2' })
    expect(await ask(sandbox)).toBe(503)
    await sandbox.scenario({ storm: '1,for=30s' })
    expect(await ask(sandbox)).toBe(429)
    await sandbox.ban('sandbox-free')
    await sandbox.settings.change({ rateLimit: false })
    const [storm, fault, clock, ...others] = await active(sandbox)
    expect(storm).toEqual(['storm 100 %', 'scenario custom', null, 1, false])
    expect(fault).toEqual(['listPets:503*2', '--fault', 1, 1, false])
    expect(clock).toEqual(['clock frozen at 2026-03-01T10:00:00.000Z', '--now, --freeze', null, null, false])
    expect(others).toEqual([
      ['rate-limit off', 'you', null, null, false],
      ['latency 1ms', '--latency', null, 2, false],
      ['sandbox-free banned', 'you', null, 0, false],
    ])
  })

  it('name the keys that limits and the plan are of', async () => {
    await using sandbox = await createSandbox({ seed: 1, limits: '2/min', plan: 'pro' })
    expect((await active(sandbox)).map(([text]) => text)).toEqual(['plan pro for sandbox', 'limits 2/min for sandbox'])
    const spec = temporaryFile('own.yaml', 'openapi: 3.1.0\ninfo: { title: Own, version: "1" }\npaths: {}\n')
    await using own = await createSandbox({ seed: 1, spec, limits: '2/min' })
    expect((await active(own)).map(([text]) => text)).toEqual(['limits 2/min for each key'])
  })

  it('name a clock that is days from real time in whole hours', async () => {
    await using sandbox = await createSandbox({ seed: 1, now: '+2d3h29m' })
    expect(await active(sandbox)).toContainEqual(['clock +2d3h', '--now, --freeze', null, null, false])
    await sandbox.clock.advance('2m')
    expect(await active(sandbox)).toContainEqual(['clock +2d4h', 'you', null, null, false])
  })

  it('count for a ban what this ban refused, not those before it', async () => {
    await using sandbox = await createSandbox({ ...AT_TEN, freeze: true })
    await sandbox.ban('sandbox', '1m')
    expect(await ask(sandbox)).toBe(429)
    await sandbox.clock.advance('2m')
    await sandbox.ban('sandbox', '1m')
    expect(await active(sandbox)).toContainEqual(['sandbox banned', 'you', null, 0, false])
    expect(await ask(sandbox)).toBe(429)
    expect(await active(sandbox)).toContainEqual(['sandbox banned', 'you', null, 1, false])
  })

  it('include options of the start that no verb changes, and handlers', async () => {
    await using sandbox = await createSandbox({
      seed: 1,
      mock: ['listPets'],
      anyKey: true,
      reason: false,
      order: 'oldest',
    })
    sandbox.space('a').handle('getPet', () => ({ status: 200, body: {} }))
    const options = [
      ['listPets mocked', '--mock', null, null, false],
      ['any key is valid', '--any-key', null, null, false],
      ['no X-Sandbox-Reason', '--no-reason', null, null, false],
      ['oldest first', '--order', null, null, false],
    ]
    expect(await active(sandbox)).toEqual(options)
    await sandbox.space('a').reset()
    expect(await active(sandbox.space('a'))).toEqual([...options, ['getPet handled', 'handlers', null, null, false]])
  })

  it('include the start options that are switched off', async () => {
    await using sandbox = await createSandbox({ seed: 1, latency: '1ms', fault: 'listPets:503', storm: 1 })
    await sandbox.settings.change({ latency: null })
    await sandbox.faults.clear()
    await sandbox.storm.stop()
    expect(await active(sandbox)).toEqual([
      ['storm 100 %', '--storm', null, null, true],
      ['listPets:503', '--fault', null, null, true],
      ['latency 1ms', '--latency', null, null, true],
    ])
  })

  it('show the full quota of a key while rate limits are off, but not of the key that is always out of it', async () => {
    await using sandbox = await createSandbox({ ...AT_TEN, freeze: true, limits: '2/min' })
    for (let n = 0; n < 3; n++) await ask(sandbox)
    const minutes = async () => (await sandbox.keys.list()).map(({ key, minute }) => [key, minute])
    const reset = '2026-03-01T10:01:00.000Z'
    expect(await minutes()).toContainEqual(['sandbox', { limit: 2, remaining: 0, reset }])
    await ask(sandbox, '/pets', 'sandbox-limited')
    await sandbox.settings.change({ rateLimit: false })
    expect(await ask(sandbox)).toBe(200)
    expect(await minutes()).toContainEqual(['sandbox', { limit: 2, remaining: 2, reset: null }])
    expect(await minutes()).toContainEqual(['sandbox-limited', { limit: 60, remaining: 0, reset }])
  })

  it('name the flag that switches off, and the one who set a switch after a scenario or an undo', async () => {
    await using sandbox = await createSandbox({ seed: 1, rateLimit: false })
    await sandbox.scenario('sunset')
    await sandbox.storm.start('0.3')
    await sandbox.faults.add('getPet:503')
    const origins = async () => Object.fromEntries((await active(sandbox)).map(([text, origin]) => [text, origin]))
    const before = await origins()
    expect(before).toMatchObject({ 'rate-limit off': '--no-rate-limit', 'storm 30 %': 'you', 'getPet:503': 'you' })
    await sandbox.scenario({ storm: 1, banAfter: 3 })
    expect(await origins()).toMatchObject({ 'storm 100 %': 'scenario custom', 'ban-after 3': 'scenario custom' })
    await sandbox.undo()
    expect(await origins()).toEqual(before)
    await sandbox.clock.advance('1h')
    await sandbox.undo()
    expect(await origins()).toEqual(before)
  })

  it('say that a client caused its ban', async () => {
    await using sandbox = await createSandbox({ ...AT_TEN, limits: '1/min', banAfter: 1 })
    for (let n = 0; n < 4; n++) await ask(sandbox)
    await sandbox.storm.start('0.3')
    const origins = new Map((await active(sandbox)).map(([text, origin]) => [text, origin]))
    expect([origins.get('sandbox banned'), origins.get('storm 30 %')]).toEqual(['early requests', 'you'])
  })
})

describe('the log', () => {
  it('is read in pages, and with the filter of the dashboard', async () => {
    await using sandbox = await createSandbox({ seed: 1 })
    for (let limit = 1; limit <= 4; limit++) await ask(sandbox, `/pets?limit=${limit}`, 'sandbox~+importer')
    await ask(sandbox, '/nothing')
    const ids = async (filter: Parameters<Sandbox['requests']>[0]) =>
      (await sandbox.requests(filter)).map(({ id }) => id)
    expect(await ids({ before: 4, limit: 2 })).toEqual([2, 3])
    expect(await ids({ filter: '4xx' })).toEqual([5])
    expect(await ids({ filter: 'client:importer', limit: 1 })).toEqual([4])
    expect(await ids({ limit: 0 })).toEqual([])
  })
})
