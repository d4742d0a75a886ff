import axiosRetry from 'axios-retry'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type SandboxOptions, type Space, startSandbox } from '../../src/index.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { unlessStalled } from '../support/stalls.js'
import { axiosClient, gotClient, kyClient, type Send, undiciClient } from './retrying-clients.js'

// docs/conduct.md ("Real clients") describes these clients. They wait in real time, a second or two.

/** As they are when nobody configures them. */
const DEFAULT: Clients = { ky: kyClient(), got: gotClient(), axios: axiosClient(), undici: undiciClient() }

/** Retries of POST, too: a request that was refused has done nothing. */
const WITH_POST: Clients = {
  ky: kyClient({ methods: ['get', 'post'] }),
  got: gotClient({ methods: ['GET', 'POST'] }),
  axios: axiosClient({ retryCondition: axiosRetry.isRetryableError, retryDelay: axiosRetry.exponentialDelay }),
  undici: undiciClient({ methods: ['GET', 'POST'] }),
}

/** The backoff of each, three times: enough to be judged, and scaled down where it begins with more than 0.3 s. */
const BACKING_OFF: Clients = {
  ky: kyClient({ limit: 3 }),
  got: gotClient({ limit: 3, calculateDelay: ({ computedValue }) => computedValue / 5 }),
  axios: axiosClient({ retryDelay: axiosRetry.exponentialDelay }),
  undici: undiciClient({ minTimeout: 100 }),
}

type Clients = Readonly<Record<'ky' | 'got' | 'axios' | 'undici', Send>>

/** What the sandbox saw of one client in a space of its own: violations have each rule once. */
interface Seen {
  readonly status: number
  readonly statuses: readonly (number | null)[]
  readonly rules: readonly string[]
}

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let spaces = 0

beforeAll(async () => {
  sandbox = await startSandbox({ seed: 1 })
  // A first request takes longer than later ones, maybe longer than a ban.
  await observeAll(DEFAULT, {})
})
afterAll(() => sandbox.close())

/** Sends with a client in a space, which is set up before. */
async function observe(
  send: Send,
  setUp: SandboxOptions | ((space: Space) => unknown),
  method: 'GET' | 'POST' = 'GET',
) {
  const space = sandbox.space(`client-${spaces++}`)
  await (typeof setUp === 'function' ? setUp(space) : space.scenario(setUp))
  const status = await send(method, `${sandbox.baseUrl}/pets`, space.key())
  return { status, ...(await whatCame(space)) }
}

async function whatCame(space: Space): Promise<Pick<Seen, 'statuses' | 'rules'>> {
  const { violations } = await space.conduct()
  const statuses = (await space.requests()).map(({ status }) => status)
  return { statuses, rules: [...new Set(violations.map(({ rule }) => rule))] }
}

/** The same of each client. */
async function observeAll(clients: Clients, setUp: Parameters<typeof observe>[1], method: 'GET' | 'POST' = 'GET') {
  const names = Object.keys(clients) as (keyof Clients)[]
  const seen = names.map(async (name) => [name, await observe(clients[name], setUp, method)] as const)
  return Object.fromEntries(await Promise.all(seen))
}

describe.concurrent('ky, got, axios with axios-retry and the RetryAgent of undici', () => {
  const once = { status: 200, statuses: [429, 200] }
  const late = { status: 200, statuses: [500, 500, 500, 200] }
  const REFUSED_POST = { fault: ['createPet:429*1'] }
  const FAILING = { fault: ['listPets:500*3'] }
  it.each<[what: string, Clients, Parameters<typeof observe>[1], 'GET' | 'POST', Omit<Seen, 'rules'>]>([
    ['wait for a Retry-After in seconds', DEFAULT, { fault: ['listPets:429*1'], retryAfter: 'seconds' }, 'GET', once],
    ['wait for a date in Retry-After', DEFAULT, { fault: ['listPets:429*1'], retryAfter: 'http-date' }, 'GET', once],
    ['wait a ban out', DEFAULT, (space) => space.ban('sandbox', { for: '2s' }), 'GET', once],
    ['do not repeat a POST that was refused', DEFAULT, REFUSED_POST, 'POST', { status: 429, statuses: [429] }],
    ['retry and wait for POST if told to', WITH_POST, REFUSED_POST, 'POST', { status: 201, statuses: [429, 201] }],
    ['back off by themselves; axios-retry with exponentialDelay', BACKING_OFF, FAILING, 'GET', late],
  ])('%s', async (_what, clients, setUp, method, seen) => {
    const all = { ...seen, rules: [] }
    const expected = { ky: all, got: all, axios: all, undici: all }
    await unlessStalled(async () => expect(await observeAll(clients, setUp, method)).toEqual(expected))
  })

  it('wait for each with several requests under way', async () => {
    const send = async (client: Send) => {
      const space = sandbox.space(`client-${spaces++}`)
      await space.scenario({ fault: ['listPets:429*3'] })
      await Promise.all(Array.from({ length: 5 }, () => client('GET', `${sandbox.baseUrl}/pets`, space.key())))
      const { statuses, rules } = await whatCame(space)
      return { refused: statuses.filter((status) => status === 429).length, served: statuses.length - 3, rules }
    }
    await unlessStalled(async () =>
      expect(await Promise.all(Object.values(DEFAULT).map(send))).toEqual(
        Object.keys(DEFAULT).map(() => ({ refused: 3, served: 5, rules: [] })),
      ),
    )
  })
})

describe.concurrent('by default', () => {
  it('ky and got give up after two tries more, axios-retry after three, undici after five', async () => {
    const quick = {
      ky: kyClient({ delay: () => 1 }),
      got: gotClient({ calculateDelay: ({ computedValue }) => computedValue / 1000 }),
      axios: DEFAULT.axios,
      undici: undiciClient({ minTimeout: 1 }),
    }
    await unlessStalled(async () => {
      const seen = await observeAll(quick, { fault: ['listPets:500'] })
      const tries = Object.entries(seen).map(([name, { statuses }]) => [name, statuses.length - 1])
      expect(Object.fromEntries(tries)).toEqual({ ky: 2, got: 2, axios: 3, undici: 5 })
    })
  })

  it('axios-retry does not back off where nothing says when to come back; three times are let pass', async () => {
    await unlessStalled(async () => {
      const seen = await observe(DEFAULT.axios, { fault: ['listPets:429'], retryAfter: 'none' })
      expect(seen).toEqual({ status: 429, statuses: [429, 429, 429, 429], rules: [] })
    })
  })

  it('axios-retry with more retries does not either: no-backoff', async () => {
    const eager = axiosClient({ retries: 8 })
    // How far apart tries without any wait are is chance; a client that backs off never fails this way.
    const isSeen = async () =>
      expect(await observe(eager, { fault: ['listPets:429'], retryAfter: 'none' })).toMatchObject({
        ...{ status: 429, rules: ['no-backoff'] },
      })
    await vi.waitFor(isSeen, { timeout: STEP_PATIENCE_MS, interval: 0 })
  })

  it('ky waits until X-RateLimit-Reset where a 429 has no Retry-After', async () => {
    // The clock of this one is so far behind that the window, a minute long, ends in a second or two.
    const behind = await startSandbox({ now: new Date(Date.now() - 58_500).toISOString(), retryAfter: 'none' })
    await behind.faults.add('listPets:429*1')
    await DEFAULT.ky('GET', `${behind.baseUrl}/pets`, behind.key())
    const servedBy = Date.now()
    const [refused] = await behind.requests()
    await behind.close()
    const reset = Number(refused?.response.headers['x-ratelimit-reset'])
    expect(servedBy).toBeGreaterThanOrEqual(reset * 1000)
  })
})

describe.concurrent('told to wait less than Retry-After', () => {
  it('the RetryAgent comes early: its maxTimeout, 30 s by default, is shorter than a minute: early-retry', async () => {
    const within = (maxTimeout: number) => observe(undiciClient({ maxTimeout }), { fault: ['listPets:429*1'] })
    await unlessStalled(async () => {
      expect(await within(100)).toEqual({ status: 200, statuses: [429, 200], rules: ['early-retry'] })
      expect((await within(86_400_000)).rules).toEqual([])
    })
  })

  it('axios-retry comes early with a retryDelay of its own, is banned, and comes again', async () => {
    const impatient = axiosClient({ retries: 12, retryDelay: () => 0 })
    await unlessStalled(async () => {
      const { status, rules } = await observe(impatient, { fault: ['listPets:429'] })
      expect([status, ...rules.toSorted()]).toEqual([429, 'early-retry', 'request-while-banned'])
    })
  })
})
