import { QueryClient } from '@tanstack/query-core'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { startSandbox } from '../../src/index.js'
import { axiosClient, gotClient, kyClient, type Send, undiciClient } from './retrying-clients.js'

/** Each waits as long as Retry-After demands, by timers that a test can fake. */
const CLIENTS: Readonly<Record<string, Send>> = {
  ky: kyClient({ limit: 2 }),
  got: gotClient({ limit: 2 }),
  'axios-retry': axiosClient({
    retries: 2,
    retryCondition: () => true,
    retryDelay: (_count, error) => waitOf(error.response?.headers),
  }),
  'undici RetryAgent': undiciClient({ maxRetries: 2, maxTimeout: 2 * 86_400_000, statusCodes: [429] }),
  'TanStack Query': queryClient(),
}

const waitOf = (headers: Readonly<Record<string, unknown>> = {}) => Number(headers['retry-after']) * 1000

function queryClient(): Send {
  return (_method, url, key) =>
    new QueryClient().fetchQuery({
      queryKey: [url, key],
      async queryFn() {
        const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
        await response.text()
        if (!response.ok) throw new Error('refused', { cause: Object.fromEntries(response.headers) })
        return response.status
      },
      retry: 2,
      retryDelay: (_count, { cause }) => waitOf(cause as Record<string, string>),
    })
}

afterEach(() => void vi.useRealTimers())

// Other tools than Vitest are tested in test/api/lockstep.test.ts.
describe('a wait for the next day, with fake timers', async () => {
  const sandbox = await startSandbox({ limits: '1/day' })
  afterAll(() => sandbox.close())

  it.each(Object.entries(CLIENTS))('ends at once through %s, and no request is early', async (name, send) => {
    const timers = vi.useFakeTimers()
    const space = sandbox.space(name.replaceAll(' ', '-').toLowerCase())
    const url = `${sandbox.baseUrl}/pets`
    expect(await send('GET', url, space.key())).toBe(200)
    const second = send('GET', url, space.key())
    await space.clock.advance('24h', { timers })
    expect(await second).toBe(200)
    expect((await space.requests()).map(({ status }) => status)).toEqual([200, 429, 200])
    expect(await space.conduct()).toMatchObject({ violations: [], warnings: [] })
    await space.remove()
  })
})
