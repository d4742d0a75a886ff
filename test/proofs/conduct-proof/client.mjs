// One client for each transport and policy: `node client.mjs <transport> <policy>`.
// It knows the sandbox only by PETSTORE_BASE_URL and PETSTORE_API_KEY.
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'

const KEY = process.env.PETSTORE_API_KEY
const PETS = () => `${process.env.PETSTORE_BASE_URL}/pets`
/** Milliseconds until a client gives a request up. */
const TIMEOUT = Number(process.env.CLIENT_TIMEOUT_MS ?? 10_000)

/** @returns status 0 if no response came; `wait` is Retry-After in milliseconds */
const LOST = { status: 0, wait: undefined }
const result = (status, retryAfter) => ({ status, wait: readWait(retryAfter) })

function readWait(text) {
  if (text === null || text === undefined) return undefined
  return /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
}

const overFetch =
  (init, isRead = true) =>
  async (url, headers, body) => {
    const post = body === undefined ? {} : { method: 'POST', body }
    const response = await fetch(url, { headers, ...post, ...init(), signal: AbortSignal.timeout(TIMEOUT) })
    if (isRead) await response.arrayBuffer()
    return result(response.status, response.headers.get('retry-after'))
  }

const overHttp = (agent, isRead = true) => {
  const shared = agent()
  return (url, headers) =>
    new Promise((resolve, reject) => {
      const options = { agent: shared, headers, timeout: TIMEOUT, signal: AbortSignal.timeout(TIMEOUT) }
      get(url, options, (response) => {
        const got = result(response.statusCode, response.headers['retry-after'])
        if (!isRead) resolve(got)
        response
          .resume()
          .on('end', () => resolve(got))
          .on('error', reject)
      }).on('error', reject)
    })
}

const overUndici = async (connections, pipelining = 1) => {
  const { Pool, request } = await import('undici')
  const dispatcher = new Pool(new URL(process.env.PETSTORE_BASE_URL).origin, { connections, pipelining })
  return async (url, headers) => {
    const answer = await request(url, { dispatcher, headers, signal: AbortSignal.timeout(TIMEOUT) })
    await answer.body.dump()
    return result(answer.statusCode, answer.headers['retry-after'])
  }
}

const TRANSPORTS = {
  fetch: () => overFetch(() => ({})),
  'fetch-close': () => overFetch(() => ({ headers: { authorization: `Bearer ${KEY}`, connection: 'close' } })),
  'fetch-unread': () => overFetch(() => ({}), false),
  http: () => overHttp(() => undefined),
  'http-no-agent': () => overHttp(() => false),
  'http-no-agent-unread': () => overHttp(() => false, false),
  'http-keep-alive': () => overHttp(() => new Agent({ keepAlive: true, maxSockets: 1 })),
  'http-pool': () => overHttp(() => new Agent({ keepAlive: true, maxSockets: 4, scheduling: 'fifo' })),
  'undici-1': () => overUndici(1),
  'undici-4': () => overUndici(4),
  'undici-pipelined': () => overUndici(1, 10),
}

const doubling = (attempt) => 100 * 2 ** attempt
/** Milliseconds between a failure and the next try. */
const WAITS = {
  polite: ({ wait }, attempt) => wait ?? doubling(attempt),
  jitter: ({ wait }, attempt) => (wait ?? doubling(attempt)) + Math.random() * 100,
  rude: () => 0,
  half: ({ wait }, attempt) => (wait === undefined ? doubling(attempt) : wait / 2),
  'as-milliseconds': ({ wait }, attempt) => (wait === undefined ? doubling(attempt) : wait / 1000),
  'capped-500ms': ({ wait }, attempt) => Math.min(500, wait ?? doubling(attempt)),
  'backoff-only': (_result, attempt) => doubling(attempt),
  'poll-200ms': () => 200,
}

/** One operation with retries. */
async function series(once, waitFor, { tries = 4, headers = {}, path = '', key = KEY, body } = {}) {
  for (let attempt = 0; attempt < tries; attempt++) {
    const all = { authorization: `Bearer ${key}`, ...headers }
    const got = await once(PETS() + path, all, body).catch(() => LOST)
    if (got.status >= 200 && got.status < 400) return got
    if (attempt === tries - 1) return got
    const pause = waitFor(got, attempt)
    if (pause > 0) await setTimeout(pause)
  }
}

const all = (count, work) => Promise.all(Array.from({ length: count }, (_none, index) => work(index)))
const control = (method, path, body) => {
  const url = new URL(process.env.PETSTORE_SANDBOX_URL + path)
  url.search = process.env.CONTROL_QUERY ?? ''
  return fetch(url, { method, headers: { 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
}
const VERBS = {
  'storm-stop': () => control('DELETE', '/storm'),
  unban: () => control('DELETE', '/keys/sandbox/ban'),
  advance: () => control('POST', '/clock/advance', { by: '10m' }),
  reset: () => control('POST', '/reset'),
  plan: () => control('PATCH', '/keys/sandbox', { plan: 'enterprise' }),
  limits: () => control('PATCH', '/settings', { limits: '1000/min,100000/day' }),
}

/** What is done with a transport: `<policy>` or `<shape>:<count or verb>:<policy>`. */
const SHAPES = {
  /** Two operations, one after the other. */
  twice: async (once, waitFor) => {
    await series(once, waitFor)
    await series(once, waitFor)
  },
  /** Requests issued in one turn; after the longest wait that they were told, once more. */
  burst: async (once, waitFor, count) => {
    for (const turn of [1, 2]) {
      const send = () => once(PETS(), { authorization: `Bearer ${KEY}`, 'x-turn': turn }).catch(() => LOST)
      const results = await all(Number(count), send)
      const waits = results.map((got) => waitFor(got, turn))
      if (turn === 1) await setTimeout(Math.max(...waits))
    }
  },
  /** Workers that share a key; each is one sender. */
  workers: (once, waitFor, count) =>
    all(Number(count), async (index) => {
      await setTimeout(index * 37)
      const key = process.env.NAMED_SENDERS ? `${KEY}${KEY.includes('~') ? '' : '~'}+w${index}` : KEY
      await series(once, waitFor, { key, headers: { 'x-sender': `w${index}` } })
    }),
  /** Other pages of the list while told to wait: not the same request. */
  pages: async (once, waitFor) => {
    for (const limit of [1, 2, 3]) await series(once, waitFor, { tries: 1, path: `?limit=${limit}` })
  },
  posts: (once, waitFor) =>
    series(once, waitFor, { headers: { 'content-type': 'application/json' }, body: '{"name":"Rex","categoryId":1}' }),
  /** Somebody ends the wait by hand; then up to five requests, until the next refusal. */
  ended: async (once, _waitFor, verb) => {
    const rush = () => series(once, () => 0, { tries: 1 })
    await rush()
    await VERBS[verb]()
    for (let count = 0; count < 5 && (await rush()).status < 400; count++);
  },
  /** A poller that looks at no status: setInterval. */
  interval: (once, _waitFor, period) =>
    all(6, async (index) => {
      await setTimeout(index * Number(period))
      await once(PETS(), { authorization: `Bearer ${KEY}` }).catch(() => LOST)
    }),
  one: (once) => series(once, () => 0, { tries: 1 }),
}

/** Libraries that retry by themselves: name and options. */
const LIBRARIES = {
  got: async (options) => {
    const { default: got } = await import('got')
    return (url, headers) =>
      got(url, { headers, retry: options, throwHttpErrors: false, timeout: { request: TIMEOUT } })
  },
  ky: async (options) => {
    const { default: ky } = await import('ky')
    return (url, headers) => ky(url, { headers, retry: options, timeout: TIMEOUT * 10 })
  },
  axios: async (options) => {
    const { default: axios } = await import('axios')
    const { default: axiosRetry } = await import('axios-retry')
    const instance = axios.create({ timeout: TIMEOUT })
    axiosRetry(instance, { shouldResetTimeout: true, ...options(axiosRetry) })
    return (url, headers) => instance.get(url, { headers })
  },
  'p-retry': async ({ readsWait, ...options }) => {
    const { default: pRetry } = await import('p-retry')
    const once = overFetch(() => ({}))
    return (url, headers) =>
      pRetry(
        async () => {
          const got = await once(url, headers)
          if (got.status >= 400) throw Object.assign(new Error(String(got.status)), got)
        },
        {
          onFailedAttempt: ({ error }) => (readsWait && error.wait ? setTimeout(error.wait) : undefined),
          shouldRetry: () => true,
          ...options,
        },
      )
  },
  ofetch: async (options) => {
    const { ofetch } = await import('ofetch')
    return (url, headers) => ofetch(url, { headers, timeout: TIMEOUT, ...options })
  },
  'retry-agent': async (options) => {
    const { Agent: UndiciAgent, RetryAgent, request } = await import('undici')
    const dispatcher = new RetryAgent(new UndiciAgent(), options)
    return async (url, headers) => {
      const answer = await request(url, { headers, dispatcher, signal: AbortSignal.timeout(TIMEOUT * 10) })
      await answer.body.dump()
    }
  },
}
const waitOr = (otherwise) => (context) => readWait(context.response?.headers.get('retry-after')) ?? otherwise
const OPTIONS = {
  got: {
    default: undefined,
    rude: { limit: 5, calculateDelay: ({ attemptCount }) => (attemptCount < 6 ? 1 : 0) },
    short: { limit: 4, calculateDelay: ({ computedValue }) => computedValue / 5 },
  },
  ky: {
    default: undefined,
    more: { limit: 4, delay: (attempt) => 100 * 2 ** attempt },
    rude: { limit: 5, afterStatusCodes: [], delay: () => 1 },
    capped: { limit: 4, maxRetryAfter: 300 },
  },
  axios: {
    default: () => ({}),
    exponential: (axiosRetry) => ({ retryDelay: axiosRetry.exponentialDelay }),
    rude: () => ({ retries: 5, retryDelay: () => 0, retryCondition: () => true }),
  },
  'p-retry': {
    'reads-wait': { readsWait: true, retries: 3, minTimeout: 100 },
    naive: { retries: 4, minTimeout: 100 },
    rude: { retries: 5, minTimeout: 0, maxTimeout: 0 },
  },
  ofetch: {
    default: { retry: 3 },
    'reads-wait': { retry: 3, retryDelay: (context) => waitOr(200)(context) },
    rude: { retry: 5, retryDelay: 0 },
  },
  'retry-agent': {
    default: undefined,
    short: { maxTimeout: 100, minTimeout: 50 },
    rude: { maxTimeout: 1, minTimeout: 1, retryAfter: false },
  },
}

/** @param args as on the command line */
export async function run([client, policy]) {
  if (client in LIBRARIES) {
    const [option, shape] = policy.split(':')
    const call = await LIBRARIES[client](OPTIONS[client][option])
    const headers = { authorization: `Bearer ${KEY}` }
    for (let count = 0; count < (shape === 'twice' ? 2 : 1); count++)
      await call(PETS(), headers)?.then(undefined, () => {})
    return
  }
  const once = await TRANSPORTS[client]()
  const parts = policy.split(':')
  const waitFor = WAITS[parts.at(-1)] ?? WAITS.rude
  const shape = SHAPES[parts[0]]
  if (shape === undefined) await series(once, waitFor, { tries: policy === 'rude' ? 6 : 4 })
  else await shape(once, waitFor, parts[1])
}

if (process.argv[1]?.endsWith('client.mjs')) {
  await run(process.argv.slice(2))
  process.exit(0)
}
