import { readFileSync } from 'node:fs'
import { Agent } from 'undici'
import { afterAll, inject, onTestFinished, TestRunner } from 'vitest'
import { MISSING } from '../../src/browser/options.js'
import { parseJson } from '../../src/contract/json.js'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import type { SpaceContext } from '../../src/core/space-context.js'
import { keyChoices, keyParts } from '../../src/domain/key-places.js'
import { createFetch } from '../../src/http/fetch-adapter.js'
import { loadContract } from '../../src/openapi/load-contract.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { openSandboxCore, type SandboxCore } from '../../src/start/compose.js'
import { runSandbox } from '../../src/start/sandbox.js'
import { violations } from './contract-check.js'
import { controlViolations } from './control-check.js'
import { embeddedOptions } from './embedded-options.js'
import { MemoryLog } from './memory-log.js'

/** Default instant of test clocks. */
export const NOON = Date.parse('2026-03-01T12:00:00Z')

interface CallOptions {
  /** API key; null for none. Default: `sandbox`. */
  readonly key?: string | null
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A string, or a value sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Numbers beyond 2^53 are bigints; undefined if the body is not JSON. */
  readonly json: unknown
  readonly code: string | undefined
  readonly reason: string | undefined
  readonly retryAfter: string | undefined
  readonly limit: number
  readonly remaining: number
  /** Milliseconds since the epoch. */
  readonly reset: number
}

/** A sandbox over any transport. */
export interface TestSandbox {
  readonly warnings: readonly string[]
  readonly core: SandboxCore
  call(path: string, options?: CallOptions): Promise<Seen>
  get(path: string, key?: string | null): Promise<Seen>
  post(path: string, body: unknown, key?: string | null): Promise<Seen>
  control(method: string, path: string, body?: unknown): Promise<{ status: number; json: Record<string, unknown> }>
  advance(by: string, space?: string): Promise<void>
}

type Fetch = (request: Request) => Promise<Response>

interface Transport {
  readonly core: SandboxCore
  /** For a sandbox that is not in this process. */
  readonly shared?: Pick<SpaceContext, 'basePath' | 'contract'>
  readonly origin: string
  readonly service: Fetch
  readonly control: Fetch
  close(): Promise<void>
}

async function overSocket(options: SandboxOptions, warn: (message: string) => void): Promise<Transport> {
  const running = await runSandbox(resolved(options), { onWarning: warn })
  return {
    core: running.core,
    origin: new URL(running.baseUrl).origin,
    service: singleConnectionFetch(),
    control: fetch,
    close: () => running.stop('now'),
  }
}

/**
 * A fetch with a single connection, so that the sandbox knows which responses the client has read. A pool would use
 * several.
 */
function singleConnectionFetch(): Fetch {
  const onOneConnection: object = { dispatcher: new Agent({ connections: 1 }) }
  let pending = 0
  return async (request) => {
    pending++
    try {
      return await fetch(request, pending === 1 ? onOneConnection : {})
    } finally {
      pending--
    }
  }
}

async function inProcess(options: SandboxOptions, warn: (message: string) => void): Promise<Transport> {
  const core = await openSandboxCore(resolved(options), { onWarning: warn })
  await core.begin('')
  const control: Fetch = (request) => {
    request.headers.set('host', 'localhost')
    return core.control(request)
  }
  return {
    core,
    origin: 'http://sandbox',
    service: createFetch(core, core.controlTarget.stopping),
    control,
    close: () => core.close(),
  }
}

/** Two replicas with a log in memory, used alternately. */
async function ofReplicas(options: SandboxOptions, warn: (message: string) => void): Promise<Transport> {
  // Replicas support neither a store nor an upstream.
  const { store, upstream, scenario } = options
  const isInFront = upstream !== undefined || (typeof scenario === 'object' && 'upstream' in scenario)
  if (store !== undefined || isInFront) return inProcess(options, warn)
  const log = new MemoryLog(() => Date.now())
  // Both replicas warn.
  const warned = new Set<string>()
  const warnOnce = (message: string) => {
    if (!warned.has(message)) warn(message)
    warned.add(message)
  }
  const open = async (seed: number) => {
    const core = await openSandboxCore(
      resolved({ redis: 'redis://a-log-in-memory', seed, ...options }),
      { onWarning: warnOnce },
      undefined,
      { openLog: async () => log.open(), openDeliveryTracker: allDelivered },
    )
    await core.begin('')
    return { core, service: createFetch(core, core.controlTarget.stopping) }
  }
  const [one, other] = [await open(1), await open(1)]
  let asked = 0
  const next = () => (asked++ % 2 === 0 ? one : other)
  return {
    core: one.core,
    origin: 'http://sandbox',
    async service(request) {
      // A preflight is not in the log, so only the replica that serves it warns.
      const response = await (request.method === 'OPTIONS' ? one : next()).service(request)
      // The end of the exchange must be in the log before the next request.
      await new Promise(setImmediate)
      for (const { core } of [one, other]) await core.controlTarget.read(() => {})
      return response
    },
    control(request) {
      request.headers.set('host', 'localhost')
      return next().core.control(request)
    },
    async close() {
      await one.core.close()
      await other.core.close()
    },
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Default: in this process, over a socket, and with replicas. */
    readonly transport?: 'chromium'
  }
}

/** In a page of Chromium. Skips specs that need a disk, a socket or access to the process. */
async function inChromium(options: SandboxOptions, warn: (message: string) => void): Promise<Transport> {
  const { scenario } = options
  const isInFront = typeof scenario === 'object' && 'upstream' in scenario
  const needs = Object.entries(MISSING).find(
    ([name]) => name in options && !(name === 'generate' && options.spec !== undefined),
  )
  if (needs !== undefined || isInFront) leaveOut(`${needs?.[0] ?? 'upstream'} ${needs?.[1] ?? MISSING.upstream}`)
  const { openInChromium } = await import('./page/in-chromium.js')
  const { spec } = options
  const contract = spec === undefined ? packagedContract() : await loadContract(spec)
  const own = spec === undefined ? {} : { spec: readFileSync(spec, 'utf8') }
  const given = { seed: 1, now: new Date(NOON).toISOString(), freeze: true, ...options, ...own }
  const sandbox = await openInChromium(given, warn)
  return {
    get core() {
      return leaveOut('needs access to the process')
    },
    shared: { basePath: options.basePath ?? contract.basePath, contract },
    origin: 'http://sandbox',
    ...sandbox,
    service(request) {
      if (request.headers.has('origin')) leaveOut('a page cannot set Origin')
      return sandbox.service(request)
    },
  }
}

function leaveOut(why: string): never {
  const test = TestRunner.getCurrentTest()
  if (test === undefined) throw new Error(`outside of a test: ${why}`)
  return test.context.skip(why)
}

/** In one process, returned responses count as delivered on all replicas. */
function allDelivered() {
  const delivered = {
    deliveredUpTo: 0,
    sent(position: number) {
      delivered.deliveredUpTo = position
    },
  }
  return delivered
}

function resolved(options: SandboxOptions) {
  return embeddedOptions({ now: new Date(NOON).toISOString(), freeze: true, ...options })
}

/**
 * Opens a sandbox for one test: in memory, with its clock frozen at noon. Checks every response against openapi.yaml,
 * and those of the control plane against its description.
 */
function opener(open: typeof inProcess) {
  return async (
    options: SandboxOptions = {},
    atEnd: (close: () => Promise<void>) => void = onTestFinished,
  ): Promise<TestSandbox> => {
    const warnings: string[] = []
    const transport = await open(options, (message) => warnings.push(message))
    atEnd(() => transport.close())
    const { basePath, contract } = transport.shared ?? transport.core.spaces.default.shared
    const call = async (
      path: string,
      { key = 'sandbox', method = 'GET', headers = {}, body, signal }: CallOptions = {},
    ) => {
      const [bare = ''] = path.split('?')
      const route = contract.route(method, bare.slice(basePath.length))
      const choices = keyChoices(contract, route.kind === 'operation' ? route.operation.keys : undefined)
      const request = new Request(transport.origin + path, {
        method,
        headers: {
          ...(key === null ? {} : Object.fromEntries(keyParts(choices, key).headers)),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      })
      return see(method, path, await transport.service(request), options)
    }
    const control = async (method: string, path: string, body?: unknown) => {
      const request = new Request(`${transport.origin}/__sandbox${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const response = await transport.control(request)
      const { status } = response
      const json = (await response.json()) as Record<string, unknown>
      // Another contract may have other pets.
      const broken =
        options.spec !== undefined && path.startsWith('/pets') ? [] : controlViolations(method, path, status, json)
      if (broken.length > 0) throw new Error(`${method} ${path} violates the description: ${broken.join('; ')}`)
      return { status, json }
    }
    return {
      warnings,
      get core() {
        return transport.core
      },
      call,
      control,
      get: (path, key = 'sandbox') => call(basePath + path, { key }),
      post: (path, body, key = 'sandbox') => call(basePath + path, { key, method: 'POST', body }),
      async advance(by, space = '') {
        const { status, json } = await control('POST', `/clock/advance?space=${space}`, { by })
        if (status !== 200) throw new Error(`failed to advance the clock by ${by}: ${JSON.stringify(json)}`)
      },
    }
  }
}

async function see(method: string, path: string, response: Response, options: SandboxOptions): Promise<Seen> {
  const { status, headers } = response
  const text = await response.text()
  const { basePath = '/v1', retryAfter, spec } = options
  const [bare = ''] = path.split('?')
  // Skips --spec, and paths outside the contract.
  const broken =
    spec === undefined && bare.startsWith(`${basePath}/`)
      ? violations(
          { method, path: bare.slice(basePath.length), status, headers, text },
          retryAfter === 'none' ? ['Retry-After'] : [],
        )
      : []
  if (broken.length > 0) throw new Error(`${method} ${path} violates the contract: ${broken.join('; ')}`)
  const json = isJson(headers) && text !== '' ? parseJson(text) : undefined
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN)
  return {
    status,
    headers,
    text,
    json,
    code: (json as { code?: string } | undefined)?.code,
    reason: headers.get('x-sandbox-reason') ?? undefined,
    retryAfter: headers.get('retry-after') ?? undefined,
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    reset: number('x-ratelimit-reset') * 1000,
  }
}

function isJson(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('application/json') ?? false
}

export type OpenSandbox = ReturnType<typeof opener>

/** One sandbox for all tests of a `describe`, which opens with the first of them. Prism takes a second to load. */
export function shared(openSandbox: OpenSandbox, options: SandboxOptions): () => Promise<TestSandbox> {
  let sandbox: Promise<TestSandbox> | undefined
  let close = async () => {}
  afterAll(() => close())
  return () => {
    sandbox ??= openSandbox(options, (end) => {
      close = end
    })
    return sandbox
  }
}

/** In process, over a socket, and with replicas; or in a browser. */
export const transports: readonly (readonly [string, OpenSandbox])[] =
  inject('transport') === 'chromium'
    ? [['in Chromium', opener(inChromium)]]
    : [
        ['in process', opener(inProcess)],
        ['over a socket', opener(overSocket)],
        ['with two replicas', opener(ofReplicas)],
      ]

/** Replicas support no store and no real service. */
export const withoutReplicas = transports.filter(([name]) => name !== 'with two replicas')
