import { get } from 'node:http'
import { type Child, freePort, startNode } from '../child.js'

export type Operation = 'listPets' | 'getPet' | 'createPet'

/** Somebody who answers the three operations, as a process of its own. */
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
  /** How long its first answer may take. */
  readonly patienceMs?: number
}

export const API_KEY = 'sandbox'
/** The body that every createPet sends. */
export const NEW_PET = '{"name":"Rex","categoryId":1,"status":"available"}'
/** Is there with everybody. */
const PET_ID = 42

const PATIENCE_MS = 60_000
const POLL_MS = 1

/** Starts a contestant and waits for its first answer. Rejects if it ends before, or takes too long, a minute unless said otherwise. */
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
  await firstAnswer(child, urls.listPets, patienceMs)
  return {
    pid: child.pid,
    startMs: performance.now() - startedAt,
    urls,
    key,
    // What was measured need not be saved.
    stop: (signal = 'SIGKILL') => child.end(signal),
  }
}

async function firstAnswer(child: Child, url: string, patienceMs: number): Promise<void> {
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
