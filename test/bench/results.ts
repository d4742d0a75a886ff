import type { Contestant, Operation } from './contestants/contestant.js'
import type { Extent } from './extent.js'
import type { LineUp } from './line-up.js'
import type { Load } from './load/load.js'
import { type CallTimes, callTimes } from './measures/call-command.js'
import { type InProcess, inProcess } from './measures/in-process.js'
import { memoryAfter, memoryGrowth } from './measures/memory.js'
import { opening } from './measures/opening.js'
import { startTimes } from './measures/start.js'
import { type Throughput, throughput } from './measures/throughput.js'
import { ratiosOf, type Spread } from './statistics.js'

export const OPERATIONS: readonly Operation[] = ['listPets', 'getPet', 'createPet']

/** Everything that a run measured. */
export interface Results {
  readonly lineUp: LineUp
  readonly extent: Extent
  readonly throughput: Readonly<Record<Operation, Throughput>>
  /** Of `few` and of what differs from it in one thing. */
  readonly growth: Readonly<Partial<Record<Operation, Throughput>>>
  readonly starts: ReadonlyMap<Contestant, readonly number[]>
  /** In turn with the bare server, but less often, as they take longer. */
  readonly peerStarts: ReadonlyMap<Contestant, readonly number[]>
  readonly memory: ReadonlyMap<Contestant, number>
  readonly memoryGrowth: Awaited<ReturnType<typeof memoryGrowth>>
  readonly opening: Awaited<ReturnType<typeof opening>>
  readonly inProcess: InProcess
  readonly call: CallTimes
}

/** Measures everything, one after the other: nothing else of this run is busy meanwhile. */
export async function measure(lineUp: LineUp, extent: Extent, load: Load): Promise<Results> {
  const { bare, few, more, many, fewInMemory, moreInMemory, manyInMemory, withoutStore, peers } = lineUp
  const { emptyLog, besideSpaces, inSpace } = lineUp
  const durable = [few, more, many]
  return {
    lineUp,
    extent,
    inProcess: await inProcess(extent.shortRounds),
    call: await callTimes(few, extent.shortRounds),
    starts: await startTimes([bare, withoutStore, few, fewInMemory], extent.shortRounds),
    peerStarts: await startTimes([bare, ...peers], extent.longRounds),
    opening: await opening(many, extent.longRounds),
    memory: await memories([bare, few, many, besideSpaces, ...peers], extent),
    memoryGrowth: await memoryGrowth(extent.requests, few, load),
    throughput: {
      listPets: await throughput('listPets', [bare, ...durable], peers, extent.rounds.listPets, extent, load),
      getPet: await throughput('getPet', [bare, ...durable], peers, extent.rounds.getPet, extent, load),
      createPet: await throughput(
        'createPet',
        [bare, ...durable, fewInMemory, moreInMemory, manyInMemory],
        peers,
        extent.rounds.createPet,
        extent,
        load,
      ),
    },
    growth: await growthOf([few, emptyLog, besideSpaces, inSpace], extent, load),
  }
}

async function growthOf(contestants: readonly Contestant[], extent: Extent, load: Load): Promise<Results['growth']> {
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
