import { get, Agent as HttpAgent } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { exponentialDelay } from 'axios-retry'
import { Agent, request } from 'undici'
import { send } from '../../src/client/send.js'
import type { ConductRule } from '../../src/conduct/conduct-view.js'
import type { ScenarioContent, Space } from '../../src/index.js'
import {
  axiosClient,
  gotClient,
  kyClient,
  ofetchClient,
  pRetryClient,
  type Send,
  undiciClient,
} from './retrying-clients.js'

/** Clients of a sandbox: how many, for how long, with which requests. */
export interface Shift {
  readonly baseUrl: string
  readonly key: string
  /** In [0, 1). */
  readonly chance: () => number
  /** When nothing new is begun, by performance.now(). */
  readonly until: number
}

/** Clients that share a key. */
export interface Crew {
  readonly name: string
  readonly weather: ScenarioContent
  /** How many senders they are. */
  readonly senders: number
  /** What they do wrong; undefined for those who keep the rules. */
  readonly breaks?: ConductRule
  work(shift: Shift): Promise<void>
}

/** The result of a crew's run. */
export interface Observed {
  readonly requests: number
  /** Responses that required a retry. */
  readonly refused: number
  readonly violations: readonly string[]
  readonly warnings: ReadonlyMap<ConductRule, number>
}

const WORKERS = 8
const LONGEST_THOUGHT_MS = 3000
const LATEST_START_MS = 800
const RETRY_AFTER_MS = 1000
const FIRST_BACKOFF_MS = 100
const LONGEST_BACKOFF_MS = 1000

/** Bad enough that everybody is refused again and again, each in several ways. */
const FOUL: ScenarioContent = {
  limits: '100000/min,100000/day',
  latency: '0ms..40ms',
  storm: '0.35,retry-after=1s',
  fault: ['*:503@15%,retry-after=1s', '*:502@10%', '*:connection-reset@4%'],
}
const SLOW: ScenarioContent = { ...FOUL, latency: '0ms..250ms' }

/** Backs off without a Retry-After. @param last the wait before, 0 at first */
type Jitter = (attempt: number, last: number, chance: () => number) => number

const bound = (attempt: number) => Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt)
/** @source AWS Architecture Blog, "Exponential Backoff And Jitter" */
const JITTERS: Readonly<Record<'full' | 'capped' | 'decorrelated', Jitter>> = {
  full: (attempt, _last, chance) => chance() * bound(attempt),
  capped: (attempt, _last, chance) => bound(attempt) * (0.5 + chance() / 2),
  decorrelated: (_attempt, last, chance) =>
    Math.min(
      LONGEST_BACKOFF_MS,
      FIRST_BACKOFF_MS + chance() * (3 * Math.max(last, FIRST_BACKOFF_MS) - FIRST_BACKOFF_MS),
    ),
}

/** The wait that a response asks for; undefined without a need to retry, null without a Retry-After. */
type Try = (signal: AbortSignal | undefined) => Promise<number | null | undefined>

function overPool(connections: number, { baseUrl, key }: Shift): { readonly once: Try; close(): Promise<void> } {
  const dispatcher = new Agent({ connections, pipelining: 1 })
  return {
    async once(signal) {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await request(`${baseUrl}/pets`, { dispatcher, headers, signal: signal ?? null })
      await answer.body.dump()
      if (answer.statusCode < 400) return undefined
      const told = answer.headers['retry-after']
      return told === undefined ? null : Number(told) * 1000
    },
    close: () => dispatcher.destroy(),
  }
}

function each(count: number, { chance, until }: Shift, work: (think: () => Promise<boolean>) => Promise<void>) {
  const pause = async (duration: number) => {
    if (performance.now() + duration >= until) return false
    await setTimeout(duration)
    return true
  }
  return Promise.all(
    Array.from({ length: count }, async () => {
      await setTimeout(chance() * LATEST_START_MS)
      // Mostly short, because an idle client sends no requests.
      await work(() => pause(chance() ** 3 * LONGEST_THOUGHT_MS))
    }),
  ).then(() => {})
}

interface Habits {
  readonly connections: number
  readonly jitter: Jitter
  readonly workers?: number
  /** Clients abort a request after this many milliseconds. */
  readonly patience?: number
}

/** Clients that obey Retry-After, and back off without it. */
function polite(name: string, { connections, jitter, workers = WORKERS, patience }: Habits): Crew {
  return {
    name,
    weather: patience === undefined ? FOUL : SLOW,
    senders: workers,
    async work(shift) {
      const { once, close } = overPool(connections, shift)
      await each(workers, shift, async (think) => {
        do {
          let last = 0
          for (let attempt = 0; ; attempt++) {
            const signal = patience === undefined ? undefined : AbortSignal.timeout(patience)
            // An aborted or cut request has no response.
            const told = await once(signal).catch(() => null)
            if (told === undefined) break
            last = jitter(attempt, last, shift.chance)
            const wait = told === null ? last : told + last
            if (performance.now() + wait >= shift.until) return
            await setTimeout(wait)
          }
        } while (await think())
      })
      await close()
    },
  }
}

/** Eight who leave retries to a library, and wait themselves when it has given up. */
function library(name: string, sendOne: Send): Crew {
  return {
    name,
    weather: FOUL,
    senders: WORKERS,
    work: (shift) =>
      each(WORKERS, shift, async (think) => {
        do {
          const status = await sendOne('GET', `${shift.baseUrl}/pets`, shift.key).catch(() => 0)
          if (status >= 400 || status === 0) await setTimeout(RETRY_AFTER_MS)
        } while (await think())
      }),
  }
}

/** The client of `petstore-sandbox call --retry`. */
const ownClient: Send = async (method, url, key) => {
  const headers = [['authorization', `Bearer ${key}`]] as const
  const { response: answer } = await send(
    { method, url, headers, body: undefined },
    {
      env: {},
      signal: new AbortController().signal,
      retries: 4,
      maxWait: 5000,
      unsafe: false,
      timeout: 10_000,
      maxBody: 1_000_000,
      onWait: () => {},
    },
    {
      sleep: (duration, signal) => setTimeout(duration, undefined, { signal }),
      now: Date.now,
      random: Math.random,
    },
  )
  return answer.status
}

/** A client that retries at once. @param paths in turn */
function rude(name: string, breaks: ConductRule, weather: ScenarioContent, { ways, paths }: Rudeness): Crew {
  return {
    name,
    weather: { limits: '100000/min,100000/day', ...weather },
    senders: 1,
    breaks,
    async work({ baseUrl, key, until }) {
      const agents = ways()
      // On a starved machine a retry comes late now and then, however soon it is meant.
      const end = breaks === 'no-backoff' ? until + LONGER_MS : until
      for (let count = 0; performance.now() < end && count < MOST_OF_ONE; count++) {
        const agent = agents[count % agents.length]
        const path = paths[count % paths.length] ?? ''
        await new Promise<void>((resolve) => {
          const over = () => resolve()
          get(baseUrl + path, { agent, headers: { authorization: `Bearer ${key}` } }, (answer) =>
            answer.resume().once('close', over),
          ).once('error', over)
        })
        if (breaks === 'early-retry') await setTimeout(PAUSE_MS)
      }
      for (const agent of agents) agent.destroy()
    },
  }
}

interface Rudeness {
  /** Its paths, in turn. */
  ways(): readonly HttpAgent[]
  readonly paths: readonly string[]
}

/** Enough for any rule, and few enough to leave capacity for others. */
const MOST_OF_ONE = 600
const PAUSE_MS = 5
const LONGER_MS = 4000

const oneConnection = () => [new HttpAgent({ keepAlive: true, maxSockets: 1 })]
const aPool = () => Array.from({ length: 4 }, oneConnection).flat()
const aNewOneEach = () => [new HttpAgent({ keepAlive: false })]
const TOLD_TO_WAIT: ScenarioContent = { storm: '1,retry-after=1s', banAfter: 'never' }
const BROKEN: ScenarioContent = { fault: ['listPets:503'] }

export const RUDE_CREWS: readonly Crew[] = [
  rude('a loop on one connection', 'early-retry', TOLD_TO_WAIT, { ways: oneConnection, paths: ['/pets'] }),
  rude('a loop over a pool', 'early-retry', TOLD_TO_WAIT, { ways: aPool, paths: ['/pets'] }),
  rude('a loop, a new connection each', 'early-retry', TOLD_TO_WAIT, { ways: aNewOneEach, paths: ['/pets'] }),
  rude('instant retries beside a healthy endpoint', 'no-backoff', BROKEN, {
    ways: oneConnection,
    paths: ['/pets', '/pets/1'],
  }),
  rude('instant retries beside a healthy endpoint, a new connection each', 'no-backoff', BROKEN, {
    ways: aNewOneEach,
    paths: ['/pets', '/store/orders'],
  }),
]

const { full, capped, decorrelated } = JITTERS

export const POLITE_CREWS: readonly Crew[] = [
  polite('one connection, full jitter', { connections: 1, jitter: full }),
  polite('two connections, capped jitter', { connections: 2, jitter: capped }),
  polite('eight connections, decorrelated jitter', { connections: 8, jitter: decorrelated }),
  polite('eight connections, full jitter', { connections: 8, jitter: full }),
  polite('one connection, given up after 120 ms', { connections: 1, jitter: full, patience: 120 }),
  polite('two connections, given up after 60 ms', { connections: 2, jitter: decorrelated, patience: 60 }),
  polite('eight connections, given up after 200 ms', { connections: 8, jitter: capped, patience: 200 }),
  polite('one worker, given up after 120 ms', { workers: 1, connections: 1, jitter: full, patience: 120 }),
  polite('one worker with two connections, given up after 60 ms', {
    workers: 1,
    connections: 2,
    jitter: capped,
    patience: 60,
  }),
  library('ky', kyClient({ limit: 3 })),
  library('got', gotClient({ limit: 2 })),
  library('axios-retry', axiosClient({ retryDelay: exponentialDelay })),
  library('p-retry', pRetryClient({ retries: 3, minTimeout: 100, randomize: true })),
  library('ofetch', ofetchClient()),
  library("undici's RetryAgent", undiciClient({ maxRetries: 3, minTimeout: 100 })),
  library('call --retry', ownClient),
]

/** Lets a crew do its shift in a space, and says what the sandbox makes of it. */
export async function observe(
  crew: Crew,
  space: Space,
  { duration, ...shift }: Omit<Shift, 'key' | 'until'> & { readonly duration: number },
): Promise<Observed> {
  await space.scenario({ ...crew.weather, senders: crew.senders })
  await crew.work({ ...shift, key: space.key(), until: performance.now() + duration })
  const { requests, violations, warnings } = await space.conduct()
  const statuses = (await space.requests()).map(({ status }) => status)
  return {
    requests,
    refused: statuses.filter((status) => status === null || status === 429 || status >= 500).length,
    violations: violations.map(({ rule, message, count }) => `${rule} (${count}): ${message}`),
    warnings: new Map(warnings.map(({ rule, count }) => [rule, count])),
  }
}
