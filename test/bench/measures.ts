import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startVitest } from 'vitest/node'
import { packageDirectory } from '../../src/system/package-files.js'
import {
  API_KEY,
  bareLike,
  type Contestant,
  jsonServer,
  type Operation,
  prism,
  type Running,
  sandbox,
  sandboxWithoutStore,
  scalar,
} from './contestants.js'
import { type Load, sendExactly } from './load.js'
import { count, ratiosOf, type Spread } from './statistics.js'
import { benchDirectory, command, newFolder, plainEnvironment, runToEnd, say } from './tools.js'

/** How much of everything a run measures. */
export interface Extent {
  readonly rounds: Readonly<Record<Operation, number>>
  /** Where nothing but growth is to be seen. */
  readonly growthRounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Pets of the three stores, smallest first. */
  readonly pets: readonly [few: number, more: number, many: number]
  readonly spaces: number
  /** Operations for the growth by log and spaces. */
  readonly growthOf: readonly Operation[]
  /** Between the two looks at the memory. */
  readonly requests: readonly [few: number, many: number]
  /** Of starts and of single commands, which are short. */
  readonly shortRounds: number
  /** Of what takes seconds each time. */
  readonly longRounds: number
}

export const FULL: Extent = {
  // Many short rounds: a machine's speed changes from second to second, and the median is the steadier the more there are.
  // createPet begins anew each round, which takes its time.
  rounds: { listPets: 21, getPet: 21, createPet: 9 },
  growthRounds: 9,
  seconds: 1,
  // V8 needs this long to compile everything for createPet.
  warmUpSeconds: 3,
  pets: [120, 10_000, 1_000_000],
  spaces: 1_000,
  growthOf: ['listPets', 'getPet', 'createPet'],
  requests: [10_000, 1_000_000],
  shortRounds: 21,
  longRounds: 3,
}

/** A minute, only to check that everything runs. */
export const QUICK: Extent = {
  rounds: { listPets: 1, getPet: 1, createPet: 1 },
  growthRounds: 1,
  seconds: 1,
  warmUpSeconds: 0,
  pets: [120, 1_000, 10_000],
  spaces: 100,
  growthOf: ['listPets'],
  requests: [1_000, 10_000],
  shortRounds: 3,
  longRounds: 1,
}

/** Everybody who takes part, by the part they have. */
export type LineUp = Awaited<ReturnType<typeof lineUp>>

/** @returns who takes part; the bare server has been held against the sandbox */
export async function lineUp({ pets: [few, more, many], spaces }: Extent) {
  const durable = (pets: number) => sandbox(`petstore-sandbox, ${count(pets)} pets`, { pets })
  const inMemory = (pets: number) => sandbox(`petstore-sandbox, ${count(pets)} pets, in memory`, { pets, memory: true })
  const model = durable(few)
  return {
    bare: await bareLike(model),
    // As `serve` starts: durable.
    few: model,
    more: durable(more),
    many: durable(many),
    fewInMemory: inMemory(few),
    moreInMemory: inMemory(more),
    manyInMemory: inMemory(many),
    withoutStore: sandboxWithoutStore('petstore-sandbox, no store yet'),
    peers: [prism, jsonServer(few), scalar],
    // Like `few`, but for one thing each.
    emptyLog: sandbox('empty log (`--log-limit 0`)', { pets: few, flags: ['--log-limit', '0'] }),
    besideSpaces: sandbox(`${count(spaces)} spaces, in the default one`, { pets: few, spaces }),
    inSpace: sandbox(`${count(spaces)} spaces, in one of them`, { pets: few, spaces, inSpace: true }),
  }
}

export const OPERATIONS: readonly Operation[] = ['listPets', 'getPet', 'createPet']

/** Everything that a run measured. */
export type Results = Awaited<ReturnType<typeof measure>>

/** Measures one thing after the other, so that measurements do not disturb each other. */
export async function measure(lineUp: LineUp, extent: Extent, load: Load) {
  const { bare, few, more, many, fewInMemory, moreInMemory, manyInMemory, withoutStore, peers } = lineUp
  const { emptyLog, besideSpaces, inSpace } = lineUp
  const durable = [few, more, many]
  const inTurn = (operation: Operation, contestants: readonly Contestant[]) =>
    throughput(operation, [bare, ...contestants], peers, extent.rounds[operation], extent, load)
  return {
    lineUp,
    extent,
    inProcess: await inProcess(extent.shortRounds),
    perTest: await perTest(extent.shortRounds),
    call: await callTimes(few, extent.shortRounds),
    starts: await startTimes([bare, withoutStore, few, fewInMemory], extent.shortRounds),
    peerStarts: await startTimes([bare, ...peers], extent.longRounds),
    opening: await opening(many, extent.longRounds),
    memory: await memories([bare, few, many, besideSpaces, ...peers], extent),
    memoryGrowth: await memoryGrowth(extent.requests, few, load),
    throughput: {
      listPets: await inTurn('listPets', durable),
      getPet: await inTurn('getPet', durable),
      createPet: await inTurn('createPet', [...durable, fewInMemory, moreInMemory, manyInMemory]),
    },
    growth: await growthOf([few, emptyLog, besideSpaces, inSpace], extent, load),
  }
}

async function growthOf(contestants: readonly Contestant[], extent: Extent, load: Load) {
  const figures: Partial<Record<Operation, Throughput>> = {}
  for (const operation of extent.growthOf)
    figures[operation] = await throughput(operation, contestants, [], extent.growthRounds, extent, load)
  return figures
}

async function memories(
  contestants: readonly Contestant[],
  { requests: [few] }: Extent,
): Promise<ReadonlyMap<Contestant, number>> {
  const figures = new Map<Contestant, number>()
  for (const contestant of contestants) figures.set(contestant, await memoryAfter(few, contestant))
  return figures
}

/** How one contestant's figures stand to another's, of the same rounds. */
export function ratio(figures: ReadonlyMap<Contestant, readonly number[]>, of: Contestant, to: Contestant): Spread {
  return ratiosOf(figures.get(of) ?? [], figures.get(to) ?? [])
}

/** Requests per second, a figure each round, by contestant. */
export type Throughput = ReadonlyMap<Contestant, readonly number[]>

/**
 * Loads contestants in turn, A B C C B A, so that whatever else the machine does falls on all of them.
 *
 * @param peers in the first rounds only: they are so far off that it need not be known so well
 */
async function throughput(
  operation: Operation,
  contestants: readonly Contestant[],
  peers: readonly Contestant[],
  rounds: number,
  { longRounds, seconds, warmUpSeconds }: Extent,
  load: Load,
): Promise<Throughput> {
  const figures = new Map([...contestants, ...peers].map((contestant) => [contestant, [] as number[]]))
  const lasting = new Map<Contestant, Running>()
  const warm = async (contestant: Contestant) => {
    const running = await contestant.start()
    if (warmUpSeconds > 0) await load(running, operation, warmUpSeconds)
    return running
  }
  try {
    for (let round = 0; round < rounds; round++)
      for (const [contestant, taken] of round % 2 === 0 ? figures : [...figures].reverse()) {
        if (round >= longRounds && peers.includes(contestant)) continue
        say(`${operation}, round ${round + 1} of ${rounds}: ${contestant.name}`)
        const running = lasting.get(contestant) ?? (await warm(contestant))
        lasting.set(contestant, running)
        taken.push((await load(running, operation, seconds)).perSecond)
        if (operation === 'createPet' && contestant.grows) {
          lasting.delete(contestant)
          await running.stop()
        }
      }
  } finally {
    for (const running of lasting.values()) await running.stop()
  }
  return figures
}

/** Milliseconds from the start of the process to its first 200, a figure each round, in turn, by contestant. */
async function startTimes(
  contestants: readonly Contestant[],
  rounds: number,
): Promise<ReadonlyMap<Contestant, readonly number[]>> {
  const figures = new Map(contestants.map((contestant) => [contestant, [] as number[]]))
  // The first time, files are read from the disk.
  for (let round = -1; round < rounds; round++)
    for (const [contestant, taken] of figures) {
      say(`start, round ${Math.max(round + 1, 1)} of ${rounds}: ${contestant.name}`)
      const running = await contestant.start()
      await running.stop()
      if (round >= 0) taken.push(running.startMs)
    }
  return figures
}

/** Opening a store that is there: seconds to the first response, and megabytes then; a figure each round. */
async function opening(contestant: Contestant, rounds: number) {
  const seconds: number[] = []
  const megabytes: number[] = []
  for (let round = 0; round < rounds; round++) {
    say(`opening, round ${round + 1} of ${rounds}: ${contestant.name}`)
    const running = await contestant.start()
    seconds.push(running.startMs / 1_000)
    megabytes.push(residentMegabytes(running.pid))
    await running.stop()
  }
  return { seconds, megabytes }
}

/** Resident megabytes after a number of listPets. */
async function memoryAfter(requests: number, contestant: Contestant): Promise<number> {
  say(`memory after ${requests} requests: ${contestant.name}`)
  const running = await contestant.start()
  try {
    await sendExactly(requests, running, 'listPets')
    return residentMegabytes(running.pid)
  } finally {
    await running.stop()
  }
}

/** The same process looked at twice: after few, and after at least `many` calls of listPets. */
async function memoryGrowth([few, many]: Extent['requests'], contestant: Contestant, load: Load) {
  say(`memory after ${few} and after ${many} requests: ${contestant.name}`)
  const running = await contestant.start()
  try {
    let done = await sendExactly(few, running, 'listPets')
    const afterFew = residentMegabytes(running.pid)
    while (done < many) done += (await load(running, 'listPets', 2)).requests
    return { afterFew, afterMany: residentMegabytes(running.pid) }
  } finally {
    await running.stop()
  }
}

/** What a process holds in the machine's memory now, in megabytes of 1,000,000 bytes. */
export function residentMegabytes(pid: number): number {
  const status = `/proc/${pid}/status`
  const kibibytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }).trim()
  return (Number(kibibytes) * 1024) / 1e6
}

const WARM_UP_ROUNDS = 20

const COPIES = [
  { pets: 100, atMost: 2 },
  { pets: 100_000, atMost: 50 },
]

/** What a test suite waits for: the built library, warm, in this process. */
async function inProcess(rounds: number) {
  say('in process')
  const built = pathToFileURL(join(packageDirectory, 'dist/index.js')).href
  const { startSandbox } = (await import(built)) as typeof import('../../src/index.js')
  const start: number[] = []
  const reset: number[] = []
  /** Over a socket, of a space that was not used before. */
  const newSpace: number[] = []
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const keep = (figures: number[], ms: number) => round >= 0 && figures.push(ms)
    const begun = performance.now()
    await using sandbox = await startSandbox()
    keep(start, performance.now() - begun)
    const listPets = async (key: string) => {
      const response = await fetch(`${sandbox.baseUrl}/pets`, { headers: { authorization: `Bearer ${key}` } })
      await response.arrayBuffer()
    }
    // The connection is there already when the next test begins.
    await listPets(sandbox.key())
    keep(reset, await milliseconds(() => sandbox.reset()))
    keep(newSpace, await milliseconds(() => listPets(sandbox.space(`round-${round}`).key())))
  }
  const copies: { pets: number; atMost: number; times: readonly number[] }[] = []
  for (const { pets, atMost } of COPIES) {
    await using sandbox = await startSandbox({ pets })
    const times: number[] = []
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++)
      times.push(await milliseconds(() => sandbox.space('copy').copyFrom()))
    copies.push({ pets, atMost, times: times.slice(WARM_UP_ROUNDS) })
  }
  return { start, reset, newSpace, copies }
}

const TESTS_PER_ROUND = 1_000

/** What the fixture of Vitest, and MSW's use and resetHandlers, add to an empty test: milliseconds, a figure each round. */
async function perTest(rounds: number) {
  say('tests in Vitest')
  const vitest = await startVitest('test', [], {
    config: false,
    root: benchDirectory,
    include: ['measures/per-test.mjs'],
    env: { ROUNDS: String(rounds), TESTS: String(TESTS_PER_ROUND) },
    watch: false,
    reporters: [{}],
    // Bundled already: Node loads it as in a user's project.
    server: { deps: { external: [/\/dist\//] } },
  })
  const taken: Record<string, number[]> = {}
  for (const module of vitest.state.getTestModules())
    for (const suite of module.children.suites()) {
      if (suite.state() !== 'passed') throw new Error(`The suite "${suite.name}" of measures/per-test.mjs failed.`)
      const times = [...suite.children.tests()].flatMap((test) => test.diagnostic() ?? [])
      const begun = Math.min(...times.map(({ startTime }) => startTime))
      const ended = Math.max(...times.map(({ startTime, duration }) => startTime + duration))
      taken[suite.name] = [...(taken[suite.name] ?? []), (ended - begun) / TESTS_PER_ROUND]
    }
  await vitest.close()
  const { empty = [], fixture = [], handlers = [] } = taken
  const added = (figures: readonly number[]) => figures.map((figure, round) => figure - (empty[round] ?? Number.NaN))
  return { fixture: added(fixture), handlers: added(handlers) }
}

async function milliseconds(act: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}

/** Milliseconds of `call listPets`, and of a script with one fetch, a figure each round, in turn. */
async function callTimes(contestant: Contestant, rounds: number) {
  say('call listPets, and a script with one fetch')
  const running = await contestant.start()
  const baseUrl = running.urls.listPets.replace(/\/pets$/, '')
  const cwd = newFolder()
  const call: number[] = []
  const script: number[] = []
  try {
    for (let round = -1; round < rounds; round++) {
      const scriptMs = await run([join(benchDirectory, 'measures/fetch-script.mjs'), running.urls.listPets], cwd)
      const callMs = await run([command, 'call', 'listPets', '--base-url', baseUrl], cwd)
      if (round < 0) continue
      script.push(scriptMs)
      call.push(callMs)
    }
  } finally {
    await running.stop()
  }
  return { call, script }
}

async function run(args: readonly string[], cwd: string): Promise<number> {
  const begun = performance.now()
  await runToEnd(process.execPath, args, { cwd, env: { ...plainEnvironment(), PETSTORE_API_KEY: API_KEY } })
  return performance.now() - begun
}
