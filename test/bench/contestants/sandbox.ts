import { cpSync, rmSync } from 'node:fs'
import { plainEnvironment, runToEnd } from '../child.js'
import { command, newFolder } from '../directories.js'
import { API_KEY, type Contestant, launch, type Running } from './contestant.js'

export interface SandboxSetup {
  readonly pets: number
  readonly memory?: boolean
  readonly flags?: readonly string[]
  /** Opened before anything is measured. */
  readonly spaces?: number
  /** Whether requests go to one of these, instead of to the default one. */
  readonly inSpace?: boolean
}

/** Everything is counted, and nothing is refused. */
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

/** The first start of all, when there is no store yet. */
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

/** A folder with a store of so many pets, made once, to be copied. */
function storeOf(pets: number): Promise<string> {
  const made = stores.get(pets) ?? makeStore(pets)
  stores.set(pets, made)
  return made
}

async function makeStore(pets: number): Promise<string> {
  const cwd = newFolder()
  const running = await launch({ args: (port) => serve(port, ['--pets', String(pets)]), cwd, basePath: '/v1' })
  // The first answer comes before the store is written, and before a stop is a clean one.
  await runToEnd(process.execPath, [command, 'control', 'wait'], { cwd, env: plainEnvironment() })
  await running.stop('SIGTERM')
  return cwd
}

/** Rejects if a sandbox has other pets than its figures will be told of. Generated pets are numbered, but for one with a huge id. */
async function expectPets({ urls }: Running, pets: number): Promise<void> {
  const answer = await fetch(`${urls.listPets}?limit=1`, { headers: { authorization: `Bearer ${API_KEY}` } })
  const [newest] = (await answer.json()) as readonly { readonly id: number }[]
  if (newest?.id !== pets - 1) throw new Error(`the sandbox should have ${pets} pets, but its newest is ${newest?.id}`)
}

function keyOfSpace(space: number): string {
  return `${API_KEY}~space-${space}`
}

async function open(url: string, key: string): Promise<void> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`could not open the space of ${key}: ${answer.status}`)
}
