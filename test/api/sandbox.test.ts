import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  ControlError,
  type Controls,
  connectSandbox,
  createSandbox,
  type Exchange,
  OptionsError,
  type SandboxControls,
  type SandboxOptions,
  startSandbox,
} from '../../src/index.js'

interface Opened {
  readonly controls: SandboxControls
  /** Asks the service. */
  ask(path: string, key?: string, init?: RequestInit): Promise<Response>
}

const AT_NOON: SandboxOptions = { seed: 1, now: '2026-03-01T12:00:00Z', freeze: true }

function asker(baseUrl: string, send: typeof fetch): Opened['ask'] {
  return (path, key = 'sandbox', init = {}) =>
    send(baseUrl + path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })
}

async function created(options: SandboxOptions = {}): Promise<Opened> {
  const sandbox = await createSandbox({ ...AT_NOON, ...options })
  onTestFinished(() => sandbox.close())
  return { controls: sandbox, ask: asker(sandbox.baseUrl, (input, init) => sandbox.fetch(input, init)) }
}

async function started(options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ ...AT_NOON, ...options })
  onTestFinished(() => sandbox.close())
  return { controls: sandbox, ask: asker(sandbox.baseUrl, fetch) }
}

async function connected(options: SandboxOptions = {}): Promise<Opened> {
  const { controls, ask } = await started(options)
  return { controls: connectSandbox(controls.controlUrl), ask }
}

/** Called in this order on one sandbox. `result` may be a part of what `act` returns. */
const METHODS: readonly (readonly [name: string, act: (controls: Controls) => Promise<unknown>, result: unknown])[] = [
  ['clock.advance', ({ clock }) => clock.advance('1m'), { now: '2026-03-01T12:01:00.000Z', frozen: true }],
  ['clock.set', ({ clock }) => clock.set({ now: new Date('2026-03-02') }), { now: '2026-03-02T00:00:00.000Z' }],
  ['clock.resume', ({ clock }) => clock.resume(), { frozen: false }],
  ['clock.freeze', ({ clock }) => clock.freeze(), { frozen: true }],
  ['clock.reset', ({ clock }) => clock.reset(), { frozen: false }],
  ['clock.show', ({ clock }) => clock.show(), { frozen: false, now: expect.not.stringMatching(/^2026-03-01T12:0/) }],
  ['storm.start', ({ storm }) => storm.start({ for: '30s', retryAfter: '7s' }), { rate: 1, for: '30s' }],
  ['storm.show', ({ storm }) => storm.show(), { rate: 1, retryAfter: '7s' }],
  ['storm.stop', ({ storm }) => storm.stop().then(storm.show), null],
  ['faults.set', ({ faults }) => faults.set(['listPets:503*1', { fault: 500 }]), [{ left: 1 }, { left: null }]],
  ['faults.add', ({ faults }) => faults.add('getPet:404'), [{}, {}, { operation: 'getPet' }]],
  ['faults.list', ({ faults }) => faults.list(), [{}, {}, { left: null }]],
  ['faults.clear', ({ faults }) => faults.clear().then(faults.list), []],
  ['keys.add', ({ keys }) => keys.add('mine', 'pro'), { key: 'mine', plan: 'pro', ban: null }],
  ['plan', ({ plan }) => plan('mine', 'business'), { key: 'mine', plan: 'business' }],
  ['ban', ({ ban }) => ban('mine', { for: '2m' }), { ban: { until: expect.any(String) } }],
  ['unban', ({ unban }) => unban('mine'), { ban: null }],
  [
    'keys.remove',
    ({ keys }) => keys.remove('mine').then(keys.list),
    expect.not.arrayContaining([expect.objectContaining({ key: 'mine' })]),
  ],
  ['settings.change', ({ settings }) => settings.change({ limits: '5/min', latency: '1ms' }), { limits: '5/min' }],
  ['sunset', ({ sunset }) => sunset('after'), { sunset: 'after' }],
  ['settings.show', ({ settings }) => settings.show(), { limits: '5/min', latency: '1ms', sunset: 'after' }],
  ['scenario, packaged', ({ scenario }) => scenario('storm'), { storm: { rate: expect.any(Number) } }],
  ['scenario of its own', ({ scenario }) => scenario({ plan: 'pro' }), { settings: { plan: 'pro' } }],
  ['snapshots.save', ({ snapshots }) => snapshots.save('full').then(snapshots.list), ['full']],
  ['reset', ({ reset, settings }) => reset().then(settings.show), { plan: 'free', limits: null, sunset: 'auto' }],
  [
    'snapshots.restore',
    ({ snapshots, settings }) => snapshots.restore('full').then(settings.show),
    { plan: 'pro', sunset: 'after' },
  ],
  ['snapshots.remove', ({ snapshots }) => snapshots.remove('full').then(snapshots.list), []],
  [
    'records.add',
    ({ records }) => records.add('pets', { name: 'Rex', categoryId: 2n ** 63n - 1n }),
    { id: 60, categoryId: 2n ** 63n - 1n },
  ],
  [
    'records.set',
    ({ records }) => records.set('pets', 9007199254740993n, { name: 'Big', status: null }),
    { id: 9007199254740993n, name: 'Big' },
  ],
  ['records.get', ({ records }) => records.get('pets', 60), { id: 60, name: 'Rex' }],
  [
    'records.remove',
    ({ records }) => records.remove('pets', 60).then(() => records.list('pets', { limit: 1 })),
    [{ id: 59 }],
  ],
  [
    'records.add, of texts',
    ({ records }) => records.add('pets', { name: '7', categoryId: '7' }, { asText: true }),
    { name: '7', categoryId: 7 },
  ],
]

describe.each([
  ['createSandbox', created],
  ['connectSandbox', connected],
])('the controls of %s', (_name, open) => {
  it('have a method for each verb, with its result', async () => {
    const { controls } = await open()
    for (const [name, act, result] of METHODS) expect([name, await act(controls)]).toMatchObject([name, result])
  })

  it('share no object with the program', async () => {
    const { controls, ask } = await open()
    const body = { code: 'gone' }
    await controls.faults.add({ operation: 'getPet', fault: 404, body })
    const [pet, added] = [
      await controls.records.get('pets', 1),
      await controls.records.add('pets', { name: 'Rex', categoryId: 1 }),
    ]
    const before = structuredClone(await controls.records.list('pets'))
    Object.assign(body, { code: 'changed' })
    for (const record of [pet, added]) Object.assign(record, { name: 'changed' })
    expect(await controls.records.list('pets')).toEqual(before)
    expect(await (await ask('/pets/1')).json()).toEqual({ code: 'gone' })
  })

  it('tell when an open window resets, even one whose limit is 0', async () => {
    const { controls, ask } = await open()
    await ask('/pets')
    await controls.settings.change({ limits: '0/min' })
    const minute = { limit: 0, remaining: 0, reset: '2026-03-01T12:01:00.000Z' }
    expect((await controls.state()).keys).toContainEqual(expect.objectContaining({ key: 'sandbox', minute }))
  })

  it('list the orders as the service does, without quota', async () => {
    const { controls, ask } = await open()
    const orders = await controls.records.list('orders')
    expect(orders.length).toBeGreaterThan(0)
    expect(orders).toEqual(await (await ask('/store/orders')).json())
  })

  it('show what the client did, by a filter', async () => {
    const { controls, ask } = await open()
    await ask('/pets?limit=0')
    await ask('/pets', 'sk_live_secret')
    await ask('/pets', 'sandbox-limited')
    const all = await controls.requests()
    expect(all.map(({ id, status, key, reason }) => [id, status, key, reason])).toEqual([
      [1, 400, 'sandbox', null],
      [2, 401, 'unknown', null],
      [3, 429, 'sandbox-limited', 'quota-minute'],
    ])
    expect(JSON.stringify(all)).not.toContain('sk_live_secret')
    expect(await controls.requests({ since: 1, limit: 1 })).toMatchObject([{ id: 3 }])
    await controls.requests.clear()
    expect(await controls.requests()).toEqual([])
  })

  it.each([{ operation: 'getPet' }, { filter: 'op:getPet' }])(
    'follow exchanges as they happen, with %j',
    async (filter) => {
      const { controls, ask } = await open()
      const leave = new AbortController()
      const seen: Exchange[] = []
      const following = (async () => {
        for await (const exchange of controls.requests.follow(filter, leave.signal)) {
          seen.push(exchange)
          if (seen.length === 2) leave.abort()
        }
      })()
      while (seen.length < 2) {
        await ask('/pets/1', 'sandbox-business')
        await ask('/pets', 'sandbox-business')
      }
      await following
      expect(seen.map(({ operation }) => operation)).toEqual(['getPet', 'getPet'])
    },
  )

  it('are there for each space, with its own keys', async () => {
    const { controls, ask } = await open({ limits: '1/min' })
    const space = controls.space('checkout')
    const keys = [space.key(), space.key('pro'), space.keys.limited].map((key) => key.replace('~checkout', '~'))
    expect(keys).toEqual(['sandbox~', 'sandbox-pro~', 'sandbox-limited~'])
    await space.storm.start()
    expect((await ask('/pets', space.key('pro'))).status).toBe(429)
    expect((await ask('/pets', controls.keys.pro)).status).toBe(200)
    const banOf = async ({ keys }: Controls) => (await keys.list()).find(({ key }) => key === 'sandbox-free')?.ban
    await space.ban(space.key('free', { sender: 'w3' }))
    await expect(space.ban('sandbox-pro~another')).rejects.toMatchObject({ code: 'invalid_request' })
    expect([await banOf(controls), await banOf(space)]).toEqual([null, expect.anything()])
    await controls.unban('sandbox-free~checkout')
    expect(await banOf(space)).toBeNull()
    await controls.ban('sandbox-free~checkout')
    expect(await banOf(space)).not.toBeNull()
    await controls.plan('sandbox~checkout', 'business')
    expect([(await space.settings.show()).plan, (await controls.settings.show()).plan]).toEqual(['business', 'free'])
    expect((await controls.spaces.list()).map(({ name }) => name)).toEqual(['checkout'])
    await space.remove()
    expect((await ask('/pets', space.key())).status).toBe(200)
  })

  it.each<[string, (controls: Controls) => Promise<unknown>, string, RegExp]>([
    ['a storm that makes no sense', ({ storm }) => storm.start({ rate: 2 }), 'invalid_request', /rate.*0 to 1/],
    ['an unknown operation', ({ faults }) => faults.add('listDogs:500'), 'invalid_request', /"listDogs"/],
    ['an unknown key', ({ ban }) => ban('nobody'), 'not_found', /sandbox-pro/],
    ['a key that is there', ({ keys }) => keys.add('sandbox-pro'), 'conflict', /already/],
    ['a snapshot out of its folder', ({ snapshots }) => snapshots.save('../x'), 'invalid_request', /name/],
    ['an unknown scenario', ({ scenario }) => scenario('nice-weather'), 'invalid_request', /flaky-network/],
    [
      'half a bad scenario',
      ({ scenario }) => scenario({ plan: 'pro', fault: 'listDogs:500' }),
      'invalid_request',
      /listDogs/,
    ],
    [
      'a key of another type',
      ({ ban }) => ban(5 as never),
      'invalid_request',
      /^"key" must be a string, got "5"\. Example: ban\('team-a', '30s'\)\.$/,
    ],
  ])('refuse %s, and change nothing', async (_what, act, code, message) => {
    const { controls } = await open()
    const before = await controls.state()
    const error = await act(controls).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ControlError)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    expect(await controls.state()).toEqual(before)
  })
})

describe('startSandbox', () => {
  it('shares nothing with another one in the same process', async () => {
    const [a, b] = await Promise.all([started({ limits: '1/min' }), started({ limits: '1/min' })])
    await a.ask('/pets')
    expect([(await a.ask('/pets')).status, (await b.ask('/pets')).status]).toEqual([429, 200])
  })

  it('names everything that is wrong with its options', async () => {
    const error = await startSandbox({ plan: 'gold', port: -1, prot: 1 } as object).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OptionsError)
    expect((error as OptionsError).problems).toHaveLength(3)
    expect((error as OptionsError).message).toMatch(/(?=.*plan "gold")(?=.*port "-1")(?=.*prot)/s)
  })

  it('frees its port when it closes, also with open connections and streams', async () => {
    const sandbox = await startSandbox()
    const port = Number(new URL(sandbox.baseUrl).port)
    const idle = connect(port, '127.0.0.1')
    const stream = await fetch(`${sandbox.controlUrl}/requests/stream`)
    await sandbox.close()
    await stream.text()
    idle.destroy()
    const again = await startSandbox({ port })
    await again.close()
  })

  it('closes at the end of its block, and through the shutdown verb', async () => {
    let baseUrl = ''
    {
      await using sandbox = await startSandbox()
      baseUrl = sandbox.baseUrl
    }
    await expect(fetch(baseUrl)).rejects.toThrow()
    const other = await startSandbox()
    await connectSandbox(other.controlUrl).shutdown()
    await other.close()
    await expect(fetch(other.baseUrl)).rejects.toThrow()
  })

  it('asks for its token where it has one, but not for its health', async () => {
    const { controlUrl } = (await started({ controlToken: 'secret' })).controls
    for (const options of [{}, { token: 'wrong' }])
      await expect(connectSandbox(controlUrl, options).state()).rejects.toMatchObject({ code: 'forbidden' })
    expect(await connectSandbox(controlUrl, { token: 'secret' }).state()).toMatchObject({ space: '' })
    expect((await fetch(`${controlUrl}/health`)).status).toBe(200)
  })
})

describe('connectSandbox', () => {
  it('takes any address of a sandbox: its server, its base address, its control plane', async () => {
    await using sandbox = await startSandbox({ generate: ['pets=3'], basePath: '/api/v2' })
    const { origin } = new URL(sandbox.baseUrl)
    for (const path of ['', '/', '/api/v2', '/api/v2/', '/__sandbox', '/__sandbox/', '/__sandbox/docs'])
      expect((await connectSandbox(origin + path).state()).counts.records.pets, path).toBe(3)
  })

  it.each(['', 'nonsense', '127.0.0.1:4010', 'ftp://127.0.0.1', 'http://user:secret@127.0.0.1:4010', 'http://h/?q'])(
    'refuses an invalid sandbox address at once: %j',
    (address) => {
      expect(() => connectSandbox(address)).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          message: expect.stringMatching(/^controlUrl: must be the address of a sandbox, (?!.*secret)/),
        }),
      )
    },
  )

  it('says where no server responds', async () => {
    const sandbox = await startSandbox()
    await sandbox.close()
    await expect(connectSandbox(sandbox.controlUrl).state()).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/No sandbox is running at http:\/\/127\.0\.0\.1:\d+\/__sandbox/),
    })
  })
})
