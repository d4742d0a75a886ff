import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startVitest } from 'vitest/node'
import { packageDirectory } from '../../../src/system/package-files.js'
import { API_KEY, bareLike, type Contestant, type Operation, peersFor, type Running, sandbox } from './contestants.js'
import { type Load, sendExactly } from './load.js'
import { count, ratiosOf, type Spread } from './statistics.js'
import { benchDirectory, command, newFolder, plainEnvironment, runToEnd, say } from './tools.js'

export const FULL = {
  // Many short rounds: a machine's speed changes from second to second, and the median is the steadier the more there are.
  // createPet begins anew each round, which takes its time.
  rounds: { listPets: 21, getPet: 21, createPet: 9 },
  /** Where nothing but growth is to be seen. */
  growthRounds: 9,
  seconds: 1,
  // V8 needs this long to compile everything for createPet.
  warmUpSeconds: 3,
  /** Pets of the three stores. */
  few: 120,
  more: 10_000,
  many: 1_000_000,
  spaces: 1_000,
  growthOf: ['listPets', 'getPet', 'createPet'] as readonly Operation[],
  /** Between the two looks at the memory. */
  fewRequests: 10_000,
  manyRequests: 1_000_000,
  /** Of starts and of single commands, which are short. */
  shortRounds: 21,
  /** Of what takes seconds each time. */
  longRounds: 3,
}

/** How much of everything a run measures. */
type Extent = typeof FULL

/** A minute, only to check that everything runs. */
export const QUICK: Extent = {
  rounds: { listPets: 1, getPet: 1, createPet: 1 },
  growthRounds: 1,
  seconds: 1,
  warmUpSeconds: 0,
  few: 120,
  more: 1_000,
  many: 10_000,
  spaces: 100,
  growthOf: ['listPets'],
  fewRequests: 1_000,
  manyRequests: 10_000,
  shortRounds: 3,
  longRounds: 1,
}

/** @returns who takes part; the bare server has been held against the sandbox */
async function lineUp({ few, more, many, spaces }: Extent) {
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
    withoutStore: sandbox('petstore-sandbox, no store yet', {}),
    peers: peersFor(few),
    // Like `few`, but for one thing each.
    emptyLog: sandbox('empty log (`--log-limit 0`)', { pets: few, flags: ['--log-limit', '0'] }),
    besideSpaces: sandbox(`${count(spaces)} spaces, in the default one`, { pets: few, spaces }),
    inSpace: sandbox(`${count(spaces)} spaces, in one of them`, { pets: few, spaces, inSpace: true }),
  }
}

export const OPERATIONS: readonly Operation[] = ['listPets', 'getPet', 'createPet']

/** A figure each round, by contestant. */
export type Figures = ReadonlyMap<Contestant, readonly number[]>

/** Everything that a run measured. */
export type Results = Awaited<ReturnType<typeof measure>>

/** Measures one thing after the other, so that measurements do not disturb each other. */
export async function measure(extent: Extent, load: Load) {
  const all = await lineUp(extent)
  const { bare, few, more, many, fewInMemory, moreInMemory, manyInMemory, withoutStore, peers } = all
  const { emptyLog, besideSpaces, inSpace } = all
  const { shortRounds, longRounds, fewRequests, growthRounds } = extent
  const toBare = (operation: Operation, contestants: readonly Contestant[]) =>
    throughput(operation, [bare, ...contestants], peers, extent.rounds[operation], extent, load)
  const growth: Partial<Record<Operation, Figures>> = {}
  const memory = new Map<Contestant, number>()
  const results = {
    lineUp: all,
    extent,
    growth,
    memory,
    inProcess: await inProcess(shortRounds),
    perTest: await perTest(shortRounds),
    call: await callTimes(few, shortRounds),
    starts: await startTimes([bare, withoutStore, few, fewInMemory], shortRounds),
    peerStarts: await startTimes([bare, ...peers], longRounds),
    opening: await opening(many, longRounds),
    memoryGrowth: await memoryGrowth(few, extent, load),
    bareMemoryGrowth: await memoryGrowth(bare, extent, load),
    throughput: {
      listPets: await toBare('listPets', [few, more, many]),
      getPet: await toBare('getPet', [few, more, many]),
      createPet: await toBare('createPet', [few, more, many, fewInMemory, moreInMemory, manyInMemory]),
    },
  }
  for (const operation of extent.growthOf) {
    const contestants = [few, emptyLog, besideSpaces, inSpace]
    growth[operation] = await throughput(operation, contestants, [], growthRounds, extent, load)
  }
  for (const contestant of [bare, few, many, besideSpaces, ...peers]) {
    say(`memory after ${fewRequests} requests: ${contestant.name}`)
    const megabytes = await withRunning(contestant, async (running) => {
      await sendExactly(fewRequests, running, 'listPets')
      return residentMegabytes(running.pid)
    })
    memory.set(contestant, megabytes)
  }
  return results
}

/** How one contestant's figures stand to another's, of the same rounds. */
export function ratio(figures: Figures, of: Contestant, to: Contestant): Spread {
  return ratiosOf(figures.get(of) ?? [], figures.get(to) ?? [])
}

async function withRunning<T>(contestant: Contestant, use: (running: Running) => Promise<T>): Promise<T> {
  const running = await contestant.start()
  try {
    return await use(running)
  } finally {
    await running.stop()
  }
}

/**
 * Requests per second of contestants in turn, A B C C B A, so that whatever else the machine does falls on all of them.
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
): Promise<Figures> {
  const figures = new Map([...contestants, ...peers].map((contestant) => [contestant, [] as number[]]))
  const lasting = new Map<Contestant, Running>()
  try {
    for (let round = 0; round < rounds; round++)
      for (const [contestant, taken] of round % 2 === 0 ? figures : [...figures].reverse()) {
        if (round >= longRounds && peers.includes(contestant)) continue
        say(`${operation}, round ${round + 1} of ${rounds}: ${contestant.name}`)
        const known = lasting.get(contestant)
        const running = known ?? (await contestant.start())
        lasting.set(contestant, running)
        if (known === undefined && warmUpSeconds > 0) await load(running, operation, warmUpSeconds)
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

/** Megabytes after few and after many requests. */
function memoryGrowth(contestant: Contestant, { fewRequests, manyRequests }: Extent, load: Load) {
  say(`memory after ${fewRequests} and after ${manyRequests} requests: ${contestant.name}`)
  return withRunning(contestant, async (running) => {
    let done = await sendExactly(fewRequests, running, 'listPets')
    const afterFew = residentMegabytes(running.pid)
    while (done < manyRequests) done += (await load(running, 'listPets', 2)).requests
    return { afterFew, afterMany: residentMegabytes(running.pid) }
  })
}

/** Milliseconds from the start of the process to its first 200. */
async function startTimes(contestants: readonly Contestant[], rounds: number): Promise<Figures> {
  const figures = new Map(contestants.map((contestant) => [contestant, [] as number[]]))
  // The first time, files are read from the disk.
  for (let round = -1; round < rounds; round++)
    for (const [contestant, taken] of figures) {
      say(`start, round ${Math.max(round + 1, 1)} of ${rounds}: ${contestant.name}`)
      const startMs = await withRunning(contestant, async (running) => running.startMs)
      if (round >= 0) taken.push(startMs)
    }
  return figures
}

/** Opening a store that is there: seconds to the first response, and megabytes then. */
async function opening(contestant: Contestant, rounds: number) {
  const seconds: number[] = []
  const megabytes: number[] = []
  for (let round = 0; round < rounds; round++) {
    say(`opening, round ${round + 1} of ${rounds}: ${contestant.name}`)
    await withRunning(contestant, async ({ startMs, pid }) => {
      seconds.push(startMs / 1_000)
      megabytes.push(residentMegabytes(pid))
    })
  }
  return { seconds, megabytes }
}

/** What a process holds in the machine's memory now, in megabytes of 1,000,000 bytes. @source proc(5) */
export function residentMegabytes(pid: number): number {
  return (Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6
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
  const { startSandbox } = (await import(built)) as typeof import('../../../src/index.js')
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
    await using sandbox = await startSandbox({ generate: [`pets=${pets}`] })
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

async function milliseconds(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now()
  await act()
  return performance.now() - begun
}

/** Milliseconds of `call listPets`, and of a script with one fetch, in turn. */
function callTimes(contestant: Contestant, rounds: number) {
  say('call listPets, and a script with one fetch')
  return withRunning(contestant, async ({ urls: { listPets } }) => {
    const options = { cwd: newFolder(), env: { ...plainEnvironment(), PETSTORE_API_KEY: API_KEY } }
    const run = (...args: readonly string[]) => milliseconds(() => runToEnd(process.execPath, args, options))
    const call: number[] = []
    const script: number[] = []
    for (let round = -1; round < rounds; round++) {
      const scriptMs = await run(join(benchDirectory, 'measures/fetch-script.mjs'), listPets)
      const callMs = await run(command, 'call', 'listPets', '--base-url', listPets.replace(/\/pets$/, ''))
      if (round < 0) continue
      script.push(scriptMs)
      call.push(callMs)
    }
    return { call, script }
  })
}
