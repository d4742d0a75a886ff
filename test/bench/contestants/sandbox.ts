import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { command, newFolder } from '../directories.js'
import { API_KEY, type Contestant, launch } from './contestant.js'

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
  await running.stop('SIGTERM')
  return join(cwd)
}

function keyOfSpace(space: number): string {
  return `${API_KEY}~space-${space}`
}

async function open(url: string, key: string): Promise<void> {
  const answer = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`could not open the space of ${key}: ${answer.status}`)
}
