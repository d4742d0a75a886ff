import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { applyVerb } from '../../src/control/apply-verb.js'
import { perform } from '../../src/control/perform.js'
import { digestSandbox } from '../../src/core/checkpoint.js'
import { MEMBER_TIMEOUT_MS } from '../../src/replication/group.js'
import { Chance } from '../machine/chance.js'
import { Commands } from '../machine/commands.js'
import { serviceRequest } from '../support/service-request.js'
import { temporaryFile } from '../support/temporary-files.js'
import { TEST_SEED } from '../support/test-seed.js'
import { groupOfReplicas, type TestReplica } from './group-of-replicas.js'

/** Waits until all replicas have applied all entries. */
async function inStep(...replicas: readonly TestReplica[]): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await new Promise(setImmediate)
    for (const { core } of replicas) await core.controlTarget.read(() => {})
  }
}

/** Holds timers until the test ends, so that a timeout is a matter of advancing them. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

async function healthOf({ core }: TestReplica) {
  const request = new Request('http://localhost/__sandbox/health', { headers: { host: 'localhost' } })
  const response = await core.control(request)
  return { code: response.status, ...((await response.json()) as object) }
}

async function digests(...replicas: readonly TestReplica[]): Promise<readonly string[]> {
  await inStep(...replicas)
  return [...new Set(replicas.map(({ core }) => digestSandbox(core.spaces)))]
}

describe('replicas of a group', () => {
  it('are listed by each of them', async () => {
    const { replica } = groupOfReplicas()
    const [a] = [await replica(), await replica()]
    const listed = await perform(a.core.controlTarget, '', 'replicas', {})
    expect(listed.map(({ isThis }) => isThis)).toEqual([true, false])
  })

  it('agree on everything after any commands, even if they join late', async () => {
    const seed = TEST_SEED
    const { replica, time } = groupOfReplicas()
    const options = { maxSpaces: 5, logLimit: 60 }
    const all = [await replica(options), await replica(options)]
    const chance = new Chance(seed)
    const commands = new Commands(seed)
    for (let i = 0; i < 1500; i++) {
      const { command } = commands.next()
      time.now = Math.max(time.now, commands.wall)
      const { core } = chance.oneOf(all)
      if (command.kind === 'ended') core.ended(command.exchanges, command.unread)
      else if (command.kind === 'verb') await core.controlTarget.change(command, applyVerb).catch(() => {})
      else if (command.kind === 'request') {
        const reply = await core.service(command.request)
        commands.answered(reply)
      }
      if (i === 700) all.push(await replica(options))
    }
    expect(await digests(...all), `seed ${seed}`).toHaveLength(1)
  })

  it('that join late read a checkpoint and later entries', async () => {
    const { replica, log } = groupOfReplicas()
    const a = await replica()
    await a.post({ name: 'Before', categoryId: 1 })
    const second = await replica()
    // The last and the oldest replica write a checkpoint when they stop.
    await a.core.close()
    await second.post({ name: 'After', categoryId: 1 })
    expect(log.checkpoint).toBeDefined()
    const third = await replica()
    expect(await digests(second, third)).toHaveLength(1)
    expect(await (await third.get('/pets?limit=2')).json()).toMatchObject([{ name: 'After' }, { name: 'Before' }])
  })

  it('that join late know the conduct of before a reset, and the events', async () => {
    const { replica } = groupOfReplicas()
    const [oldest, a] = [await replica(), await replica()]
    await a.get('/pets?nope=1')
    await perform(a.core.controlTarget, '', 'reset', {})
    await perform(a.core.controlTarget, '', 'clock.advance', { by: '1m' })
    await oldest.core.close()
    const late = await replica()
    for (const name of ['spaces.conduct', 'events'] as const) {
      const said = await perform(a.core.controlTarget, '', name, {})
      expect(await perform(late.core.controlTarget, '', name, {}), name).toEqual(said)
      expect(JSON.stringify(said)).toMatch(/"requests":1|clock.advance/)
    }
    expect(await digests(a, late)).toHaveLength(1)
  })

  it('take seed and frozen instant from the group by default', async () => {
    const { replica, time } = groupOfReplicas()
    const a = await replica({ freeze: true })
    time.now += 5000
    const b = await replica({ freeze: true })
    expect(await digests(a, b)).toHaveLength(1)
  })
})

describe('a replica that joins', () => {
  it('is refused if its options differ, and accepted if no other replica is alive: pets are kept, except with --reset', async () => {
    const { replica, time } = groupOfReplicas()
    const a = await replica()
    await a.post({ name: 'Kept', categoryId: 1 })
    await a.core.close()
    const b = await replica({ plan: 'pro' })
    const refusal = { code: 'GROUP_DIFFERS', message: expect.stringContaining('the start (plan) differs') }
    await expect(replica()).rejects.toMatchObject(refusal)
    await expect(replica({ plan: 'pro', reset: true })).rejects.toMatchObject({ code: 'GROUP_DIFFERS' })
    expect(b.warnings).toEqual([expect.stringContaining('the start (plan) differs')])
    expect(await (await b.get('/pets?limit=1')).json()).toMatchObject([{ name: 'Kept' }])
    // As if killed.
    b.line.cutOff()
    time.now += MEMBER_TIMEOUT_MS + 1
    const c = await replica({ reset: true })
    expect(await (await c.get('/pets?limit=1')).json()).not.toMatchObject([{ name: 'Kept' }])
  })

  it('is refused if no other replica is alive, but changes were not saved that only the old options can read', async () => {
    const { replica, time } = groupOfReplicas()
    const a = await replica()
    const cutOff = (of: TestReplica) => {
      // As if killed.
      of.line.cutOff()
      time.now += MEMBER_TIMEOUT_MS + 1
    }
    await a.post({ name: 'Kept', categoryId: 1 })
    cutOff(a)
    const differs = { basePath: '/v2' }
    await expect(replica(differs)).rejects.toMatchObject({
      code: 'GROUP_DIFFERS',
      message: expect.stringMatching(/--base-path is "\/v2" here and "\/v1" in the group.*--reset/),
    })
    // The group itself knows the values at its start.
    const b = await replica({ plan: 'pro', seed: 2 })
    expect(await (await b.get('/pets?limit=1')).json()).toMatchObject([{ name: 'Kept' }])
    await b.get('/pets')
    cutOff(b)
    const c = await replica({ basePath: '/v2' })
    expect(await perform(c.core.controlTarget, '', 'records.list', { resource: 'pets' })).toContainEqual(
      expect.objectContaining({ name: 'Kept' }),
    )
    await c.core.service(serviceRequest({ method: 'DELETE', target: '/v2/pets/1' }))
    cutOff(c)
    await expect(replica()).rejects.toMatchObject({ code: 'GROUP_DIFFERS' })
    expect((await (await replica({ reset: true })).get('/pets')).status).toBe(200)
  })

  it('may name a key in its scenario that was added while the group ran, even if it was removed', async () => {
    const { replica } = groupOfReplicas()
    const first = await replica()
    await perform(first.core.controlTarget, '', 'keys.add', { key: 'mine', plan: 'pro' })
    await first.core.close()
    const scenario = { ban: { mine: '5m' } }
    const a = await replica({ scenario })
    const b = await replica({ scenario })
    expect((await b.get('/pets', 'mine')).status).toBe(429)
    expect(await digests(a, b)).toHaveLength(1)
    await perform(b.core.controlTarget, '', 'keys.remove', { key: 'mine' })
    await b.core.close()
    await a.core.close()
    const c = await replica({ scenario })
    expect((await c.get('/pets', 'mine')).status).toBe(401)
  })

  it('may not name a key in its scenario that the group does not have at its start', async () => {
    const { replica } = groupOfReplicas()
    const scenario = { ban: { mine: '5m' } }
    await expect(replica({ scenario })).rejects.toMatchObject({ code: 'UNKNOWN_KEY' })
    await (await replica()).core.close()
    await expect(replica({ scenario })).rejects.toMatchObject({ code: 'UNKNOWN_KEY' })
  })
})

describe('data of another release', () => {
  it('is refused in a checkpoint, with advice; --reset restarts the group', async () => {
    const { replica, log, time } = groupOfReplicas()
    await (await replica()).core.close()
    const { place, text } = log.checkpoint ?? {}
    if (place === undefined || text === undefined) throw new Error('no checkpoint')
    log.checkpoint = { place, text: text.replace(/(?<=\n){"version":\d+/, '{"version":2') }
    const message =
      /the checkpoint has version 2, this release reads version \d+\. Choose another --group, start the release that wrote it, or stop all replicas/
    await expect(replica()).rejects.toMatchObject({ code: 'LOG_VERSION', message: expect.stringMatching(message) })
    time.now += MEMBER_TIMEOUT_MS + 1
    expect((await (await replica({ reset: true })).get('/pets')).status).toBe(200)
    expect((await (await replica()).get('/pets')).status).toBe(200)
  })
})

describe('a replica that receives a shutdown', () => {
  it('stops alone: the others continue', async () => {
    const { replica, log } = groupOfReplicas()
    const a = await replica()
    await inStep(a)
    const entries = log.entries.length
    await expect(perform(a.core.controlTarget, '', 'shutdown', {})).resolves.toEqual({ stopping: true })
    await inStep(a)
    expect(JSON.stringify(log.entries.slice(entries))).not.toContain('shutdown')
    log.cutOff()
    await expect(perform(a.core.controlTarget, '', 'shutdown', {})).resolves.toEqual({ stopping: true })
  })
})

describe('without the log', () => {
  it('requests and verbs get a 503, health reports the reason, and both work again when it is back', async () => {
    const { replica } = groupOfReplicas()
    const a = await replica()
    a.line.cutOff('the connection was refused')
    const response = await a.get('/pets')
    expect([response.status, response.headers.get('retry-after'), response.headers.get('x-sandbox-reason')]).toEqual([
      503,
      '1',
      'unavailable',
    ])
    expect(response.headers.get('x-ratelimit-limit')).toBe('60')
    expect(await response.json()).toMatchObject({ code: 'log_unavailable', status: 503 })
    await expect(perform(a.core.controlTarget, '', 'state', {})).rejects.toMatchObject({ code: 'log_unavailable' })
    await expect(perform(a.core.controlTarget, '', 'reset', {})).rejects.toMatchObject({ code: 'log_unavailable' })
    const reason = 'the connection was refused'
    expect(await healthOf(a)).toMatchObject({ code: 503, status: 'degraded', reason })
    a.line.restore()
    expect((await a.get('/pets')).status).toBe(200)
  })

  it('requests that are stored but not read back in time get a 503', async () => {
    const { replica } = groupOfReplicas()
    const [a, b] = [await replica(), await replica()]
    a.line.cutOffReading()
    holdTimers()
    const posted = a.post({ name: 'In doubt', categoryId: 1 })
    const moved = perform(a.core.controlTarget, '', 'clock.advance', { by: '1m' })
    const refused = expect(moved).rejects.toMatchObject({ code: 'log_unavailable' })
    await inStep(b)
    await vi.advanceTimersByTimeAsync(5_000)
    expect((await posted).status).toBe(503)
    await refused
    a.line.restore()
    expect(await (await a.get('/pets?limit=1')).json()).toMatchObject([{ name: 'In doubt' }])
    expect(await digests(a, b)).toHaveLength(1)
    const [inDoubt] = await perform(b.core.controlTarget, '', 'requests.list', {})
    expect(inDoubt).toMatchObject({ ended: 'unknown', status: 503 })
  })
})

describe('pending entries', () => {
  it('are applied once on all replicas if they were acknowledged, even if connections break', async () => {
    const seed = TEST_SEED
    const { replica } = groupOfReplicas()
    const [a, b] = [await replica({ rateLimit: false }), await replica({ rateLimit: false })]
    const all = [a, b]
    const chance = new Chance(seed)
    const posted: Promise<readonly [name: string, status: number]>[] = []
    const faults: readonly ((of: TestReplica) => void)[] = [
      ({ line }) => line.hold(),
      ({ line }) => line.cutOff(),
      ({ line }) => line.cutBeforeResponse(),
      ({ line }) => line.restore(),
      ({ line }) => line.restore(),
    ]
    for (let number = 0; number < 600; number++) {
      const one = chance.oneOf(all)
      if (chance.integer(0, 5) === 0) chance.oneOf(faults)(one)
      const name = `pet ${number}`
      posted.push(one.post({ name, categoryId: 1 }).then(({ status }) => [name, status]))
      if (chance.integer(0, 2) === 0) await new Promise(setImmediate)
    }
    for (const { line } of all) line.restore()
    const results = await Promise.all(posted)
    expect(await digests(...all), `seed ${seed}`).toHaveLength(1)
    const names = (await perform(a.core.controlTarget, '', 'records.list', { resource: 'pets' })).map(
      ({ name }) => name,
    )
    for (const [name, status] of results) {
      const times = names.filter((other) => other === name).length
      expect(status === 201 ? [1] : [0, 1], `${name}, status ${status}, seed ${seed}`).toContain(times)
    }
    expect(new Set(results.map(([, status]) => status))).toEqual(new Set([201, 503]))
  })
})

describe('after the log has lost its end', () => {
  it('a replica continues from the checkpoint, and all agree again', async () => {
    const { replica, log } = groupOfReplicas()
    const [a, b] = [await replica(), await replica()]
    await a.post({ name: 'Stays', categoryId: 1 })
    await inStep(a, b)
    const kept = log.entries.length
    await a.post({ name: 'Lost', categoryId: 1 })
    await inStep(a, b)
    log.loseEnd(log.entries.length - kept)
    await expect.poll(() => a.warnings.length > 0 && b.warnings.length > 0).toBe(true)
    await expect.poll(async () => [(await a.get('/pets')).status, (await b.get('/pets')).status]).toEqual([200, 200])
    expect(await digests(a, b)).toHaveLength(1)
    expect(await (await b.get('/pets?limit=1')).json()).toMatchObject([{ name: 'Stays' }])
  })
})

describe('after the log and its checkpoint were lost', () => {
  it('a replica responds with 503, although it has no state to continue from', async () => {
    const { replica, log } = groupOfReplicas()
    const a = await replica()
    await a.post({ name: 'Lost', categoryId: 1 })
    log.checkpoint = undefined
    // Entries that follow nothing.
    log.entries = log.entries.slice(-1).map((entry) => ({ ...entry, number: entry.number + 9 }))
    log.loseEnd(0)
    await expect.poll(() => a.warnings.length).toBeGreaterThan(0)
    const response = await a.get('/pets')
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'log_unavailable' }])
  })
})

describe('a replica that reconnects', () => {
  it('appends waiting items, and serves requests', async () => {
    const { replica, log } = groupOfReplicas()
    const [a, b] = [await replica(), await replica()]
    await inStep(a, b)
    log.loseEnd(1)
    await expect.poll(() => a.warnings.length).toBeGreaterThan(0)
    // It cannot rejoin yet.
    a.line.cutOff()
    a.core.ended(
      [{ space: '', id: 1, position: 1, how: 'sent', durationMs: 1, waitingMs: 0, bodyMs: 0, connection: 0 }],
      [],
    )
    await new Promise(setImmediate)
    a.line.restore()
    await expect.poll(async () => (await a.get('/pets')).status).toBe(200)
    expect(await digests(a, b)).toHaveLength(1)
  })
})

describe('exchanges of a replica that is gone', () => {
  /** Keeps requests open. */
  const SLOW = { latency: '1h', rateLimit: false }
  const ends = async (of: TestReplica) =>
    (await perform(of.core.controlTarget, '', 'requests.list', {})).map(({ ended, durationMs, status }) => ({
      ended,
      durationMs,
      status,
    }))

  it('end as unknown on all others, at the same position and by the clock of the log', async () => {
    const { replica, time, log } = groupOfReplicas()
    const [a, b, c] = [await replica(SLOW), await replica(SLOW), await replica(SLOW)]
    void a.get('/pets').catch(() => {})
    void b.get('/pets').catch(() => {})
    await inStep(a, b, c)
    expect((await ends(c)).map(({ ended }) => ended)).toEqual([null, null])
    // As if killed.
    a.line.cutOff()
    time.now += MEMBER_TIMEOUT_MS
    b.core.ended([], [])
    await inStep(b, c)
    expect((await ends(c)).map(({ ended }) => ended)).toEqual([null, null])
    c.core.ended([], [])
    time.now += 1
    b.core.ended([], [])
    await inStep(b, c)
    const [open, ended] = (await ends(c)).toSorted((one, other) => String(other.ended).localeCompare(String(one.ended)))
    expect(open).toMatchObject({ ended: 'unknown', durationMs: MEMBER_TIMEOUT_MS + 1, status: 200 })
    expect(ended).toMatchObject({ ended: null })
    const late = await replica(SLOW)
    expect(await digests(b, c, late)).toHaveLength(1)
    expect(log.checkpoint).toBeDefined()
  })

  it('keep an end that was reported while the log was gone', async () => {
    const { replica } = groupOfReplicas()
    const [a, b] = [await replica(), await replica()]
    const { exchange } = await a.core.service(serviceRequest())
    await inStep(a, b)
    a.line.cutOff()
    const position = exchange?.position ?? 0
    a.core.ended([{ space: '', id: 1, position, how: 'sent', durationMs: 1, waitingMs: 0, bodyMs: 0, connection: 0 }])
    expect((await a.get('/pets')).status).toBe(503)
    a.line.restore()
    await inStep(a, b)
    expect((await ends(b))[0]).toMatchObject({ ended: 'sent' })
  })

  it('are restored from a checkpoint, and end as unknown', async () => {
    const { replica, time, log } = groupOfReplicas()
    const [oldest, a] = [await replica(SLOW), await replica(SLOW)]
    void a.get('/pets').catch(() => {})
    await inStep(oldest, a)
    await oldest.core.close()
    expect(log.checkpoint?.text).toContain('"open":[{')
    const b = await replica(SLOW)
    a.line.cutOff()
    time.now += MEMBER_TIMEOUT_MS + 1
    b.core.ended([], [])
    await inStep(b)
    expect(await ends(b)).toMatchObject([{ ended: 'unknown' }])
  })
})

describe('a replica that stops', () => {
  it('does not wait forever for its last checkpoint', async () => {
    const { replica } = groupOfReplicas()
    const a = await replica()
    await a.post({ name: 'Kept', categoryId: 1 })
    a.line.holdCheckpoints()
    holdTimers()
    const closed = a.core.close()
    await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(3_000)
    await closed
    vi.useRealTimers()
    const b = await replica()
    expect(await (await b.get('/pets?limit=1')).json()).toMatchObject([{ name: 'Kept' }])
  })
})

describe('a checkpoint', () => {
  it('is written while the replica serves requests, has the state at its start, and keeps what others have not read', async () => {
    const { replica, log } = groupOfReplicas()
    const a = await replica({ rateLimit: false, maxStore: '1GiB' })
    const b = await replica({ rateLimit: false, maxStore: '1GiB' })
    await inStep(a, b)
    b.line.cutOffReading()
    const founding = log.checkpoint?.place
    const name = 'x'.repeat(100_000)
    const isWritten = () => log.checkpoint?.place !== founding
    // Makes a checkpoint due.
    for (let pets = 0; pets < 84; pets++) await a.post({ name, categoryId: pets })
    let written = 0
    while (!isWritten()) {
      expect((await a.post({ name: 'During', categoryId: 1 })).status).toBe(201)
      written++
    }
    expect(String(log.checkpoint?.text).split('During').length - 1).toBeLessThanOrEqual(written)
    b.line.restore()
    expect(await digests(a, b)).toHaveLength(1)
    expect(b.warnings).toEqual([])
    expect(await digests(a, await replica({ rateLimit: false, maxStore: '1GiB' }))).toHaveLength(1)
  })
})

describe('secrets', () => {
  it.each([false, true])('an unknown token is never in an entry or a checkpoint (any key: %s)', async (anyKey) => {
    const { replica, log } = groupOfReplicas()
    const a = await replica({ anyKey, apiKey: 'sk_live_given:pro' })
    const status = anyKey ? 200 : 401
    for (const key of ['sk_live_somebody', 'sk_live_somebody~space', 'sk_live_somebody~not a space'])
      expect((await a.get('/pets', key)).status, key).toBe(key.includes(' ') ? 401 : status)
    expect((await a.get('/pets', 'sk_live_given')).status).toBe(200)
    expect((await a.get('/pets', 'sk_live_given~mine')).status).toBe(200)
    await inStep(a)
    await a.core.close()
    expect(log.checkpoint).toBeDefined()
    expect(JSON.stringify([log.entries, log.checkpoint])).not.toContain('sk_live')
  })

  it.each([
    ['Basic', { type: 'http', scheme: 'basic' }, { authorization: `Basic ${btoa('me:real/secret+1=')}` }],
    ['a cookie', { type: 'apiKey', in: 'cookie', name: 'sid' }, { cookie: 'a=b; sid=real%2fsecret%2B1%3D; c=d' }],
  ])('a given key is never in an entry or a checkpoint, in %s', async (_place, scheme, headers) => {
    const document = {
      openapi: '3.1.0',
      info: { title: 'Sample', version: '1' },
      servers: [{ url: '/v1' }],
      paths: { '/a': { get: { responses: { 200: { description: 'ok' } } } } },
      security: [{ own: [] }],
      components: { securitySchemes: { own: scheme } },
    }
    const { replica, log } = groupOfReplicas()
    const spec = temporaryFile('contract.json', JSON.stringify(document))
    const a = await replica({ spec, apiKey: 'team=real/secret+1=' })
    const rawHeaders = Object.entries(headers).flat()
    const reply = await a.core.service(serviceRequest({ target: '/v1/a', headers, rawHeaders }))
    expect(reply.status).toBe(200)
    expect(await perform(a.core.controlTarget, '', 'requests.list', {})).toMatchObject([{ key: 'team' }])
    const { entries } = log
    await a.core.close()
    expect(entries).not.toEqual(log.entries)
    expect(JSON.stringify([entries, log.checkpoint])).not.toMatch(/secret|cmVhbC9z|bWU6cm/)
  })

  it('a cookie for keys is never in an entry, also beside the key that counts', async () => {
    const schemes = {
      own: { type: 'apiKey', in: 'header', name: 'X-Key' },
      sid: { type: 'apiKey', in: 'cookie', name: 'sid' },
    }
    const document = {
      openapi: '3.1.0',
      info: { title: 'Sample', version: '1' },
      servers: [{ url: '/v1' }],
      paths: { '/a': { get: { responses: { 200: { description: 'ok' } } } } },
      security: [{ own: [], sid: [] }, { own: [] }],
      components: { securitySchemes: schemes },
    }
    const { replica, log } = groupOfReplicas()
    const a = await replica({ spec: temporaryFile('contract.json', JSON.stringify(document)) })
    for (const key of ['sandbox', 'unknown']) {
      const headers = { 'x-key': key, cookie: 'a=b; sid=real-session' }
      await a.core.service(serviceRequest({ target: '/v1/a', headers, rawHeaders: Object.entries(headers).flat() }))
    }
    const { entries } = log
    await a.core.close()
    expect(JSON.stringify(entries)).toContain('a=b; sid=***')
    expect(JSON.stringify([entries, log.checkpoint])).not.toContain('real-session')
  })

  it('a start with other keys changes no record', async () => {
    const { replica } = groupOfReplicas()
    const a = await replica({ apiKey: ['pets', 'demo'] })
    const pet = { name: 'my demo', categoryId: 1 }
    expect((await a.post(pet)).status).toBe(201)
    await a.core.close()
    const b = await replica({ apiKey: ['pets2', 'ci', 'demo'] })
    expect(await (await b.get('/pets?limit=1')).json()).toMatchObject([pet])
  })

  it('an unknown key in a verb is never in the log', async () => {
    const { replica, log } = groupOfReplicas()
    const { core } = await replica()
    const key = 'sk_live_somebody'
    for (const [verb, input] of [
      ['keys.ban', { key }],
      ['keys.change', { key, plan: 'pro' }],
      ['scenario.apply', { scenario: { ban: { [key]: '5m' } } }],
      ['scenario.apply', { scenario: { used: { [key]: '5/min' } } }],
    ] as const)
      await expect(perform(core.controlTarget, '', verb, input)).rejects.toThrow(/Unknown key/)
    expect(await perform(core.controlTarget, 'never-opened', 'keys.unban', { key })).toBeNull()
    expect(await perform(core.controlTarget, 'never-opened', 'keys.remove', { key })).toEqual({ removed: null })
    await core.controlTarget.read(() => {})
    expect(JSON.stringify(log.entries)).not.toContain('sk_live')
  })
})
