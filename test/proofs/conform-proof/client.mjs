// A client under test: `node client.mjs <library> [<options as JSON>]`. It does the job of `petstore-sandbox conform`.
import { setTimeout as sleep } from 'node:timers/promises'
import axios from 'axios'
import axiosRetry, { exponentialDelay, isIdempotentRequestError } from 'axios-retry'
import got from 'got'
import ky from 'ky'
import { ofetch } from 'ofetch'
import pRetry from 'p-retry'
import { Agent, RetryAgent, request } from 'undici'

const { PETSTORE_BASE_URL: base, PETSTORE_API_KEY: key, PETSTORE_JOB: job } = process.env
const [library, json = '{}'] = process.argv.slice(2)
const options = JSON.parse(json)
const { timeout = 8000 } = options
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const PET = `{"name":"Rex ${process.pid}","categoryId":1}`

class Refused extends Error {
  constructor(response) {
    super(String(response.status))
    this.response = response
  }
}

const LIBRARIES = {
  fetch: async (method, url, body) => {
    const signal = timeout > 0 ? AbortSignal.timeout(timeout) : undefined
    const response = await fetch(url, { method, headers, body, signal })
    if (!response.ok) throw new Refused(response)
    return response.text()
  },
  axios: async (method, url, data) => {
    const instance = axios.create({ timeout, transformResponse: (text) => text })
    const { delay, condition, ...retry } = options.retry ?? { retries: 0 }
    if (delay === 'exponential') retry.retryDelay = exponentialDelay
    else if (delay !== undefined) retry.retryDelay = () => delay
    if (condition === 'idempotent') retry.retryCondition = isIdempotentRequestError
    axiosRetry(instance, retry)
    return (await instance.request({ method, url, data, headers })).data
  },
  got: (method, url, body) =>
    got(url, { method, headers, body, timeout: { request: timeout }, retry: options.retry }).text(),
  ky: (method, url, body) => ky(url, { method, headers, body, timeout, retry: options.retry }).text(),
  undici: async (method, url, body) => {
    const agent = new Agent({ headersTimeout: timeout, bodyTimeout: timeout })
    const dispatcher = new RetryAgent(agent, options.retry)
    const response = await request(url, { method, headers, body, dispatcher })
    if (response.statusCode > 299) throw new Error(String(response.statusCode))
    return response.body.text()
  },
  ofetch: (method, url, body) => {
    const { readsWait, ...retry } = options.retry ?? {}
    if (readsWait) retry.retryDelay = ({ response }) => 1000 * (Number(response?.headers.get('retry-after')) || 0.5)
    return ofetch(url, { method, headers, body, timeout, responseType: 'text', ...retry })
  },
  'p-retry': (method, url, body) => {
    const once = () => LIBRARIES.fetch(method, url, body)
    const onFailedAttempt = async ({ error: { response } }) => {
      if (options.readsWait && response) await sleep(1000 * Number(response.headers.get('retry-after')))
    }
    return pRetry(once, { ...options.retry, onFailedAttempt })
  },
}

function waitBefore(attempt, response) {
  const { delay = 500, growth = 2, jitter = false, retryAfter = 'all' } = options
  const text = response?.headers.get('retry-after') ?? ''
  const backoff = delay * growth ** attempt
  if (text === '' || retryAfter === 'ignored') return jitter ? backoff * (0.5 + Math.random() / 2) : backoff
  if (retryAfter === 'milliseconds') return Number(text) || backoff
  if (retryAfter === 'seconds' || /^\d+$/.test(text)) return Number(text) * 1000
  return Date.parse(text) - Date.parse(response.headers.get('date'))
}

/** Retries of our own, unless the library has them. */
async function send(method, path, body) {
  const { attempts = 1, writes = 'refused', statuses = 'transient' } = options
  for (let attempt = 0; ; attempt++) {
    try {
      return await LIBRARIES[library](method, base + path, body)
    } catch (error) {
      const status = error.response?.status
      const isTransient = status === undefined || status === 429 || status > 499 || statuses === 'all'
      const isAllowed = method === 'GET' || writes === 'all' || status === 429
      const wait = waitBefore(attempt, error.response)
      if (!isTransient || !isAllowed || attempt + 1 >= attempts || wait > 10_000) throw error
      await sleep(wait)
    }
  }
}

async function create() {
  const { writes = 'refused' } = options
  const found = async () =>
    new RegExp(`{[^{}]*"name":"Rex ${process.pid}"[^{}]*}`).exec(await send('GET', '/pets'))?.[0]
  if (writes === 'after-read') return (await found()) ?? send('POST', '/pets', PET)
  return send('POST', '/pets', PET).catch(async (error) => {
    if (writes !== 'read-back') throw error
    return (await found()) ?? send('POST', '/pets', PET)
  })
}

try {
  const text = job === 'read' ? await send('GET', '/pets') : await create()
  if (options.strict && /"(?!id|name|categoryId|status)\w+":|"status":"(?!available|pending|sold)/.test(text))
    throw new Error('unknown field or value')
  const id = /"id":\s*(\d+)/.exec(text)[1]
  await send('GET', `/pets/${options.rounds ? Number(id) : id}`)
} catch (error) {
  process.stderr.write(`${error}\n`)
  process.exit(options.swallows ? 0 : 1)
}
process.exit(0)
