import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { freePort } from '../../support/redis-server.js'
import { benchDirectory, command, contract, newFolder, plainEnvironment, runToEnd, startNode } from './tools.js'

export type Operation = 'listPets' | 'getPet' | 'createPet'

/** A server of the three operations in its own process. */
export interface Contestant {
  readonly name: string
  /** Whether pets that are created stay, so that each round of creating needs a new one. */
  readonly grows: boolean
  start(): Promise<Running>
}

export interface Running {
  readonly pid: number
  /** From the start of the process to the end of the first 200. */
  readonly startMs: number
  /** Addresses to call; createPet is a POST. */
  readonly urls: Readonly<Record<Operation, string>>
  readonly key: string
  stop(signal?: NodeJS.Signals): Promise<void>
}

export const API_KEY = 'sandbox'
/** The body that every createPet sends. */
export const NEW_PET = '{"name":"Rex","categoryId":1,"status":"available"}'
/** Is there with everybody. */
const PET_ID = 42
/** Limits that count every request and refuse none. */
export const LIMITS = ['--limits', '100000000/min,100000000/day', '--log', 'silent']

interface Launch {
  readonly cwd?: string
  /** Under which path the pets are. */
  readonly basePath?: string
  /** Asks for 20 pets, where no query is needed for that. */
  readonly listQuery?: string
  readonly key?: string
  readonly timeoutMs?: number
}

/** Starts Node, and waits for the first response. Rejects if it ends before, or takes too long. @param args on a port */
async function launch(args: (port: number) => readonly string[], options: Launch = {}): Promise<Running> {
  const { cwd = newFolder(), basePath = '/v1', listQuery = '', key = API_KEY, timeoutMs = 60_000 } = options
  const port = await freePort()
  const pets = `http://127.0.0.1:${port}${basePath}/pets`
  const urls = { listPets: pets + listQuery, getPet: `${pets}/${PET_ID}`, createPet: pets }
  const startedAt = performance.now()
  const child = startNode(args(port), cwd)
  for (;;) {
    const status = await statusOf(urls.listPets)
    if (status === 200) break
    if (status !== undefined || child.hasEnded() || performance.now() > startedAt + timeoutMs) {
      await child.end('SIGKILL')
      throw new Error(`${urls.listPets} did not answer 200 (but ${status ?? 'nothing'}): ${child.lastWords()}`)
    }
    await pause(1)
  }
  const startMs = performance.now() - startedAt
  // Nothing has to be saved.
  return { pid: child.pid, startMs, urls, key, stop: (signal = 'SIGKILL') => child.end(signal) }
}

/** Starts the built command. */
export function serve(flags: readonly string[], options: Launch = {}): Promise<Running> {
  return launch((port) => [command, 'serve', '--port', String(port), ...flags], options)
}

/** Undefined while nobody listens. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(url, { agent: false, headers: { authorization: `Bearer ${API_KEY}` } }, (response) =>
      response.resume().once('end', () => resolve(response.statusCode)),
    ).once('error', () => resolve(undefined))
  })
}

/** Bare node:http that sends the bytes of another contestant. @throws Error if they differ */
export async function bareLike(model: Contestant): Promise<Contestant> {
  const replies = await repliesOf(model)
  const file = join(newFolder(), 'answers.json')
  writeFileSync(file, JSON.stringify(replies))
  const script = join(benchDirectory, 'contestants/bare-server.mjs')
  const bare = {
    name: 'bare node:http',
    grows: false,
    start: () => launch((port) => [script, String(port), file]),
  }
  if (!isDeepStrictEqual(await repliesOf(bare), replies))
    throw new Error('the bare server does not send the same bytes')
  return bare
}

async function repliesOf(contestant: Contestant) {
  const running = await contestant.start()
  const ask = async (operation: Operation) => {
    const asked = request(running.urls[operation], {
      agent: false,
      method: operation === 'createPet' ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
    })
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('error', reject).once('response', resolve)
      asked.end(operation === 'createPet' ? NEW_PET : undefined)
    })
    const { statusCode: status, rawHeaders } = response
    // Without those that Node adds.
    const headers = rawHeaders.filter((_, at) => !/^(connection|keep-alive)$/i.test(rawHeaders[at - (at % 2)] ?? ''))
    return { status, headers, body: await text(response) }
  }
  try {
    return { listPets: await ask('listPets'), getPet: await ask('getPet'), createPet: await ask('createPet') }
  } finally {
    await running.stop()
  }
}

interface SandboxSetup {
  /** Default: as many as the fixtures have, without a store at the start. */
  readonly pets?: number
  readonly memory?: boolean
  readonly flags?: readonly string[]
  /** Opened before anything is measured. */
  readonly spaces?: number
  /** Whether requests go to one of these, instead of to the default one. */
  readonly inSpace?: boolean
}

/** This sandbox, with quota, log and headers on. Each start has the same pets, whatever was created before. */
export function sandbox(name: string, setup: SandboxSetup): Contestant {
  const { pets, memory = false, flags = [], spaces = 0, inSpace = false } = setup
  const keyOf = (space: number) => `${API_KEY}~space-${space}`
  return {
    name,
    grows: true,
    async start() {
      const cwd = newFolder()
      if (pets !== undefined && !memory) cpSync(await storeOf(pets), cwd, { recursive: true })
      const inMemory = memory ? ['--generate', `pets=${pets}`, '--in-memory'] : []
      const key = inSpace ? keyOf(spaces) : API_KEY
      const running = await serve([...LIMITS, ...flags, ...inMemory], { cwd, key })
      if (pets !== undefined) await expectPets(running, pets)
      for (let space = 1; space <= spaces; space++) {
        const headers = { authorization: `Bearer ${keyOf(space)}` }
        const { ok } = await fetch(running.urls.listPets, { headers })
        if (!ok) throw new Error(`could not open the space ${space}`)
      }
      return {
        ...running,
        async stop(signal) {
          await running.stop(signal)
          rmSync(cwd, { recursive: true })
        },
      }
    },
  }
}

const stores = new Map<number, Promise<string>>()

/** A folder with a store of `pets` pets, made once, to be copied. */
function storeOf(pets: number): Promise<string> {
  const made = stores.get(pets) ?? makeStore(pets)
  stores.set(pets, made)
  return made
}

async function makeStore(pets: number): Promise<string> {
  const cwd = newFolder()
  const running = await serve([...LIMITS, '--generate', `pets=${pets}`], { cwd })
  // The first response comes before the store is written, and before a stop is a clean one.
  await runToEnd(process.execPath, [command, 'control', 'wait'], { cwd, env: plainEnvironment() })
  await running.stop('SIGTERM')
  return cwd
}

/** @throws Error if the sandbox has another number of pets; generated pets are numbered, except one with a huge id */
async function expectPets({ urls }: Running, pets: number): Promise<void> {
  const reply = await fetch(`${urls.listPets}?limit=1`, { headers: { authorization: `Bearer ${API_KEY}` } })
  const [newest] = (await reply.json()) as readonly { readonly id: number }[]
  if (newest?.id !== pets - 1) throw new Error(`the sandbox should have ${pets} pets, but its newest is ${newest?.id}`)
}

const modules = join(benchDirectory, 'node_modules')

/** Prism returns two pets and Scalar one made up from the schema; json-server rewrites a file of pets after each change. */
export function peersFor(pets: number): readonly Contestant[] {
  // Which are pinned.
  const versions = JSON.parse(readFileSync(join(benchDirectory, 'package.json'), 'utf8')).dependencies
  const prism = join(modules, '@stoplight/prism-cli/dist/index.js')
  const mock = (port: number) => ['mock', '--port', String(port), '--verboseLevel', 'silent', contract]
  const jsonServer = join(modules, 'json-server/lib/bin.js')
  const scalar = join(benchDirectory, 'contestants/scalar-server.mjs')
  const basePath = ''
  return [
    {
      name: `Prism CLI ${versions['@stoplight/prism-cli']}`,
      grows: false,
      start: () => launch((port) => [prism, ...mock(port)], { basePath }),
    },
    {
      name: `json-server ${versions['json-server']}`,
      grows: true,
      start() {
        const cwd = newFolder()
        const all = Array.from({ length: pets }, (_, index) => {
          const name = `Pet ${index + 1}`
          return { id: String(index + 1), name, categoryId: 1, status: 'available' }
        })
        writeFileSync(join(cwd, 'db.json'), JSON.stringify({ pets: all }, undefined, 2))
        const place = (port: number) => ['--port', String(port), '--host', '127.0.0.1', 'db.json']
        return launch((port) => [jsonServer, ...place(port)], { cwd, basePath, listQuery: '?_page=1&_per_page=20' })
      },
    },
    {
      name: `Scalar's mock server ${versions['@scalar/mock-server']}`,
      grows: false,
      start: () => launch((port) => [scalar, String(port), contract], { basePath }),
    },
  ]
}
