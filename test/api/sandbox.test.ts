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

describe.each([
  ['createSandbox', created],
  ['startSandbox', started],
  ['connectSandbox', connected],
])('the controls of %s', (_name, open) => {
  it('tell when an open window resets, even one whose limit is 0', async () => {
    const { controls, ask } = await open()
    await ask('/pets')
    await controls.settings.change({ limits: '0/min' })
    const minute = { limit: 0, remaining: 0, reset: '2026-03-01T12:01:00.000Z' }
    expect((await controls.state()).keys).toContainEqual(expect.objectContaining({ key: 'sandbox', minute }))
  })

  it('move the clock, which refills the quota', async () => {
    const { controls, ask } = await open({ limits: '1/min' })
    await ask('/pets')
    expect((await ask('/pets')).status).toBe(429)
    expect(await controls.clock.advance('1m')).toEqual({ now: '2026-03-01T12:01:00.000Z', frozen: true })
    expect((await ask('/pets')).status).toBe(200)
    expect((await controls.clock.set({ now: new Date('2026-03-02T00:00:00Z') })).now).toBe('2026-03-02T00:00:00.000Z')
    expect((await controls.clock.resume()).frozen).toBe(false)
    expect((await controls.clock.freeze()).frozen).toBe(true)
    expect((await controls.clock.reset()).frozen).toBe(false)
    expect(Date.parse((await controls.clock.show()).now)).toBeGreaterThan(Date.parse('2026-03-02T00:00:00Z'))
  })

  it('start and stop a storm, and start it afresh, not where the old one was', async () => {
    const { controls, ask } = await open()
    expect(await controls.storm.start({ for: '30s', retryAfter: '7s' })).toMatchObject({ rate: 1, for: '30s' })
    const refused = await ask('/pets')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7'])
    await controls.clock.advance('20s')
    await controls.storm.start({ for: '30s' })
    await controls.clock.advance('20s')
    expect((await ask('/pets')).status).toBe(429)
    await controls.storm.stop()
    expect(await controls.storm.show()).toBeNull()
    expect((await ask('/pets')).status).toBe(200)
  })

  it('arm faults, in their order', async () => {
    const { controls, ask } = await open()
    await controls.faults.set(['listPets:503*1', { operation: '*', fault: 'status', status: 500 }])
    expect([(await ask('/pets')).status, (await ask('/pets')).status]).toEqual([503, 500])
    expect(await controls.faults.list()).toMatchObject([{ left: 0 }, { left: null }])
    await controls.faults.clear()
    await controls.faults.add('getPet:404')
    expect([(await ask('/pets')).status, (await ask('/pets/1')).status]).toEqual([200, 404])
  })

  it('change keys, plans and bans', async () => {
    const { controls, ask } = await open()
    expect(await controls.keys.add('mine', 'pro')).toMatchObject({ key: 'mine', plan: 'pro', ban: null })
    expect((await ask('/pets', 'mine')).headers.get('x-ratelimit-limit')).toBe('300')
    await controls.plan('mine', 'business')
    expect((await ask('/pets', 'mine')).headers.get('x-ratelimit-limit')).toBe('1000')
    expect(await controls.ban('mine', { for: '2m' })).toMatchObject({ ban: { until: '2026-03-01T12:02:00.000Z' } })
    expect((await ask('/pets', 'mine')).headers.get('x-sandbox-reason')).toBe('ban')
    await controls.unban('mine')
    expect((await ask('/pets', 'mine')).status).toBe(200)
    await controls.keys.remove('mine')
    expect((await ask('/pets', 'mine')).status).toBe(401)
    expect((await controls.keys.list()).map(({ key }) => key)).not.toContain('mine')
  })

  it('change settings, and give the plan of `sandbox` back at a reset', async () => {
    const { controls, ask } = await open()
    await controls.plan('sandbox', 'pro')
    expect((await controls.settings.change({ limits: '5/min', latency: '1ms' })).limits).toBe('5/min')
    expect((await ask('/pets')).headers.get('x-ratelimit-limit')).toBe('5')
    expect(await controls.settings.change({ limits: null, latency: null })).toMatchObject({ plan: 'pro', limits: null })
    await controls.sunset('after')
    expect((await ask('/pets/1')).status).toBe(404)
    await controls.reset()
    expect(await controls.settings.show()).toMatchObject({ plan: 'free', sunset: 'auto' })
  })

  it('apply scenarios, packaged and their own', async () => {
    const { controls, ask } = await open()
    await controls.scenario('banned')
    expect((await ask('/pets')).headers.get('x-sandbox-reason')).toBe('ban')
    await controls.reset()
    await controls.scenario({ used: { sandbox: '59/min' } })
    expect([(await ask('/pets')).status, (await ask('/pets')).status]).toEqual([200, 429])
  })

  it('change pets by hand, int64 and all', async () => {
    const { controls, ask } = await open()
    const pet = await controls.pets.add({ name: 'Rex', categoryId: 9223372036854775807n })
    expect(pet).toEqual({ id: 60, name: 'Rex', categoryId: 9223372036854775807n })
    await controls.pets.set(60, { status: 'sold' })
    expect(await (await ask('/pets?status=sold&limit=1')).text()).toBe(
      '[{"id":60,"name":"Rex","categoryId":9223372036854775807,"status":"sold"}]',
    )
    await controls.pets.set(60, { status: null })
    expect((await controls.pets.list())[0]).toEqual(pet)
    await controls.pets.set(9007199254740993n, { name: 'Big' })
    await controls.pets.remove(60)
    expect((await ask('/pets/60')).status).toBe(404)
    expect(await controls.pets.add({ name: 'Next', categoryId: 1 })).toMatchObject({ id: 61 })
  })

  it('list the orders as the service does, without quota', async () => {
    const { controls, ask } = await open()
    const orders = await controls.orders()
    expect(orders.length).toBeGreaterThan(0)
    expect(orders).toEqual(await (await ask('/store/orders')).json())
  })

  it('save, restore, list and remove snapshots', async () => {
    const { controls, ask } = await open({ limits: '3/min' })
    await ask('/pets?limit=1')
    await controls.snapshots.save('nearly-spent')
    await ask('/pets?limit=1')
    await controls.snapshots.restore('nearly-spent')
    expect((await ask('/pets')).headers.get('x-ratelimit-remaining')).toBe('1')
    expect(await controls.snapshots.list()).toEqual(['nearly-spent'])
    await controls.snapshots.remove('nearly-spent')
    expect(await controls.snapshots.list()).toEqual([])
  })

  it('show what the client did', async () => {
    const { controls, ask } = await open()
    await ask('/pets?limit=0')
    await ask('/pets', 'sk_live_secret')
    await ask('/pets', 'sandbox-limited')
    const all = await controls.requests()
    expect(all.map(({ id, operation, status, key, reason }) => [id, operation, status, key, reason])).toEqual([
      [1, 'listPets', 400, 'sandbox', null],
      [2, 'listPets', 401, 'unknown', null],
      [3, 'listPets', 429, 'sandbox-limited', 'quota-minute'],
    ])
    expect(JSON.stringify(all)).not.toContain('sk_live_secret')
    const response = { headers: { 'content-type': 'application/json' } }
    expect(all[0]).toMatchObject({ path: '/v1/pets', query: 'limit=0', response })
    expect(await controls.requests({ status: 429 })).toHaveLength(1)
    expect(await controls.requests({ since: 1, limit: 1 })).toMatchObject([{ id: 3 }])
    expect(await controls.requests({ since: '2026-03-01T12:00:01Z' })).toEqual([])
    await controls.requests.clear()
    expect(await controls.requests()).toEqual([])
  })

  it('follow exchanges as they happen', async () => {
    const { controls, ask } = await open()
    const leave = new AbortController()
    const seen: Exchange[] = []
    const following = (async () => {
      for await (const exchange of controls.requests.follow({ operation: 'getPet' }, leave.signal)) {
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
  })

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
    ['a key that could not be sent', ({ keys }) => keys.add('a~b'), 'invalid_request', /key "a~b"/],
    ['a snapshot out of its folder', ({ snapshots }) => snapshots.save('../x'), 'invalid_request', /name/],
    ['an unknown snapshot', ({ snapshots }) => snapshots.restore('none'), 'not_found', /"none"/],
    ['an unknown scenario', ({ scenario }) => scenario('nice-weather'), 'invalid_request', /flaky-network/],
    [
      'half a bad scenario',
      ({ scenario }) => scenario({ plan: 'pro', fault: 'listDogs:500' }),
      'invalid_request',
      /listDogs/,
    ],
    [
      'an input of another type',
      ({ pets }) => pets.set(1, 'sold' as never),
      'invalid_request',
      /"sold": must be a map/,
    ],
    ['a key of another type', ({ ban }) => ban(5 as never), 'invalid_request', /The key "5": must be a string/],
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

  it('refuses pages of other origins, also their preflights', async () => {
    const { controls } = await started({ controlOrigin: 'http://localhost:6006' })
    const from = (origin: string, method: string) =>
      fetch(`${controls.controlUrl}/state`, { method, headers: { origin, 'access-control-request-method': 'GET' } })
    for (const [method, status] of Object.entries({ GET: 200, OPTIONS: 204 })) {
      expect((await from('http://evil.example', method)).status).toBe(403)
      const allowed = await from('http://localhost:6006', method)
      expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([
        status,
        'http://localhost:6006',
      ])
    }
  })
})

describe('connectSandbox', () => {
  it('takes any address of a sandbox: its server, its base address, its control plane', async () => {
    await using sandbox = await startSandbox({ pets: 3, basePath: '/api/v2' })
    const { origin } = new URL(sandbox.baseUrl)
    for (const path of ['', '/', '/api/v2', '/api/v2/', '/__sandbox', '/__sandbox/', '/__sandbox/docs'])
      expect((await connectSandbox(origin + path).state()).counts.pets, path).toBe(3)
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
