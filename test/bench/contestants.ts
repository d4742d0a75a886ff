import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { get, request } from 'node:http'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  benchDirectory,
  type Child,
  command,
  contract,
  freePort,
  newFolder,
  plainEnvironment,
  runToEnd,
  startNode,
} from './tools.js'

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

/** How to start a contestant on a port. */
export interface Launch {
  /** Arguments for Node. */
  args(port: number): readonly string[]
  readonly cwd: string
  /** Under which path the pets are. */
  readonly basePath?: string
  /** Asks for 20 pets, where no query is needed for that. */
  readonly listQuery?: string
  readonly key?: string
  /** How long its first response may take. */
  readonly patienceMs?: number
}

export const API_KEY = 'sandbox'
/** The body that every createPet sends. */
export const NEW_PET = '{"name":"Rex","categoryId":1,"status":"available"}'
/** Is there with everybody. */
const PET_ID = 42

const PATIENCE_MS = 60_000
const POLL_MS = 1

/** Starts a contestant and waits for its first response. Rejects if it ends before, or takes too long, a minute unless said otherwise. */
export async function launch({
  args,
  cwd,
  basePath = '',
  listQuery = '',
  key = API_KEY,
  patienceMs = PATIENCE_MS,
}: Launch): Promise<Running> {
  const port = await freePort()
  const pets = `http://127.0.0.1:${port}${basePath}/pets`
  const urls = { listPets: pets + listQuery, getPet: `${pets}/${PET_ID}`, createPet: pets }
  const startedAt = performance.now()
  const child = startNode(args(port), cwd)
  await firstResponse(child, urls.listPets, patienceMs)
  return {
    pid: child.pid,
    startMs: performance.now() - startedAt,
    urls,
    key,
    // Nothing has to be saved.
    stop: (signal = 'SIGKILL') => child.end(signal),
  }
}

async function firstResponse(child: Child, url: string, patienceMs: number): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const status = await statusOf(url)
    if (status === 200) return
    if (status !== undefined || child.hasEnded() || performance.now() > giveUpAt) {
      await child.end('SIGKILL')
      throw new Error(`${url} did not answer 200 (but ${status ?? 'nothing'}): ${child.lastWords()}`)
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

/** Undefined while nobody listens. */
function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    get(url, { agent: false, headers: { authorization: `Bearer ${API_KEY}` } }, (response) =>
      response.resume().once('end', () => resolve(response.statusCode)),
    ).once('error', () => resolve(undefined))
  })
}

/** A response with its headers as sent. */
interface Answer {
  readonly status: number | undefined
  readonly headers: readonly string[]
  readonly body: string
}

type Answers = Readonly<Record<Operation, Answer>>

/** Headers that Node adds. */
const OF_NODE = /^(connection|keep-alive)$/i

/** Bare node:http that sends the bytes of another contestant. @throws Error if they differ */
export async function bareLike(model: Contestant): Promise<Contestant> {
  const replies = await asking(model)
  const file = join(newFolder(), 'answers.json')
  writeFileSync(file, JSON.stringify(replies))
  const bare: Contestant = {
    name: 'bare node:http',
    grows: false,
    start: () =>
      launch({
        args: (port) => [join(benchDirectory, 'contestants/bare-server.mjs'), String(port), file],
        cwd: newFolder(),
        basePath: '/v1',
      }),
  }
  if (!isDeepStrictEqual(await asking(bare), replies)) throw new Error('the bare server does not send the same bytes')
  return bare
}

async function asking(contestant: Contestant): Promise<Answers> {
  const running = await contestant.start()
  try {
    return {
      listPets: await ask(running, 'listPets'),
      getPet: await ask(running, 'getPet'),
      createPet: await ask(running, 'createPet'),
    }
  } finally {
    await running.stop()
  }
}

function ask({ urls, key }: Running, operation: Operation): Promise<Answer> {
  const body = operation === 'createPet' ? NEW_PET : undefined
  return new Promise((resolve, reject) => {
    const asked = request(urls[operation], {
      agent: false,
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
    asked.once('error', reject)
    asked.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => {
        resolve({
          status: response.statusCode,
          headers: withoutNodes(response.rawHeaders),
          body: Buffer.concat(chunks).toString(),
        })
      })
    })
    asked.end(body)
  })
}

function withoutNodes(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.filter((_, index) => !OF_NODE.test(rawHeaders[index - (index % 2)] ?? ''))
}

export interface SandboxSetup {
  readonly pets: number
  readonly memory?: boolean
  readonly flags?: readonly string[]
  /** Opened before anything is measured. */
  readonly spaces?: number
  /** Whether requests go to one of these, instead of to the default one. */
  readonly inSpace?: boolean
}

/** Limits that count every request and refuse none. */
const LIMITS = '100000000/min,100000000/day'

/** This sandbox, with quota, log and headers on. Each start has the same pets, whatever was created before. */
export function sandbox(name: string, setup: SandboxSetup): Contestant {
  const { pets, memory = false, flags = [], spaces = 0, inSpace = false } = setup
  return {
    name,
    grows: true,
    async start() {
      const cwd = newFolder()
      if (!memory) cpSync(await storeOf(pets), cwd, { recursive: true })
      const running = await launch({
        args: (port) => serve(port, memory ? [...flags, '--pets', String(pets), '--in-memory'] : flags),
        cwd,
        basePath: '/v1',
        key: inSpace ? keyOfSpace(spaces) : API_KEY,
      })
      await expectPets(running, pets)
      for (let space = 1; space <= spaces; space++) await open(running.urls.listPets, keyOfSpace(space))
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

/** The first start, without a store. */
export function sandboxWithoutStore(name: string): Contestant {
  return {
    name,
    grows: true,
    start: () => launch({ args: (port) => serve(port, []), cwd: newFolder(), basePath: '/v1' }),
  }
}

function serve(port: number, flags: readonly string[]): readonly string[] {
  return [command, 'serve', '--port', String(port), '--limits', LIMITS, '--log', 'silent', ...flags]
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
  const running = await launch({ args: (port) => serve(port, ['--pets', String(pets)]), cwd, basePath: '/v1' })
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

function keyOfSpace(space: number): string {
  return `${API_KEY}~space-${space}`
}

async function open(url: string, key: string): Promise<void> {
  const reply = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  await reply.arrayBuffer()
  if (!reply.ok) throw new Error(`could not open the space of ${key}: ${reply.status}`)
}

const modules = join(benchDirectory, 'node_modules')
/** Which are pinned. */
const versions: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(benchDirectory, 'package.json'), 'utf8'),
).dependencies

/** Stateless; returns the two pets of the contract's example. */
export const prism: Contestant = {
  name: `Prism CLI ${versions['@stoplight/prism-cli']}`,
  grows: false,
  start: () =>
    launch({
      args: (port) => [
        join(modules, '@stoplight/prism-cli/dist/index.js'),
        ...['mock', '--port', String(port), '--verboseLevel', 'silent', contract],
      ],
      cwd: newFolder(),
    }),
}

/** Keeps nothing; answers one pet made up from the schema. */
export const scalar: Contestant = {
  name: `Scalar's mock server ${versions['@scalar/mock-server']}`,
  grows: false,
  start: () =>
    launch({
      args: (port) => [join(benchDirectory, 'contestants/scalar-server.mjs'), String(port), contract],
      cwd: newFolder(),
    }),
}

/** Rewrites a file of pets after each change; returns pages of 20. */
export function jsonServer(pets: number): Contestant {
  return {
    name: `json-server ${versions['json-server']}`,
    grows: true,
    async start() {
      const cwd = newFolder()
      writeFileSync(join(cwd, 'db.json'), JSON.stringify({ pets: petsFor(pets) }, undefined, 2))
      return launch({
        args: (port) => [
          join(modules, 'json-server/lib/bin.js'),
          ...['--port', String(port), '--host', '127.0.0.1', 'db.json'],
        ],
        cwd,
        listQuery: '?_page=1&_per_page=20',
      })
    },
  }
}

/** Its ids are text. */
function petsFor(count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({
    id: String(index + 1),
    name: `Pet ${index + 1}`,
    categoryId: 1,
    status: 'available',
  }))
}
