import type { Operation } from './contestants/contestant.js'
import { count } from './report/markdown.js'
import { OPERATIONS, type Results, ratio } from './results.js'
import { type Spread, spreadOf } from './statistics.js'

/** What a figure must keep to, and what it was. */
export interface Budget {
  readonly what: string
  readonly must: { readonly atLeast: number } | { readonly atMost: number }
  /** What is wanted, where that is not reached yet. */
  readonly goal?: number
  readonly unit: '' | 'ms' | 's' | 'MB'
  readonly figure: Spread
}

/** The budgets of this project, each with the figure of this run. The median decides. */
export function budgetsOf(results: Results): readonly Budget[] {
  const { lineUp, extent, throughput, starts, inProcess, opening, memoryGrowth } = results
  const { bare, few, many, fewInMemory, manyInMemory, withoutStore } = lineUp
  const [fewPets, , manyPets] = extent.pets
  const [fewRequests, manyRequests] = extent.requests
  const once = (figure: number): Spread => ({ median: figure, low: figure, high: figure })
  return [
    ...OPERATIONS.map((operation): Budget => {
      const figure = ratio(throughput[operation], few, bare)
      return { what: `${nameOf(operation)} to bare node:http`, ...TO_BARE[operation], unit: '', figure }
    }),
    ...OPERATIONS.map((operation): Budget => {
      const figure = ratio(throughput[operation], many, few)
      const what = `${nameOf(operation)} with ${count(manyPets)} pets to ${count(fewPets)}`
      return { what, must: { atLeast: 0.9 }, unit: '', figure }
    }),
    {
      what: `createPet in memory with ${count(manyPets)} pets to ${count(fewPets)}`,
      must: { atLeast: 0.9 },
      unit: '',
      figure: ratio(throughput.createPet, manyInMemory, fewInMemory),
    },
    ...[withoutStore, few, fewInMemory].map((contestant, index): Budget => {
      const how = ['no store yet', 'a store', 'in memory'][index]
      const what = `\`serve\` to its first 200, ${how}, to a bare script's`
      return { what, must: { atMost: 1.6 }, goal: 1.45, unit: '', figure: ratio(starts, contestant, bare) }
    }),
    { what: 'startSandbox() in a warm process', must: { atMost: 1 }, unit: 'ms', figure: spreadOf(inProcess.start) },
    { what: 'reset()', must: { atMost: 0.2 }, unit: 'ms', figure: spreadOf(inProcess.reset) },
    { what: "a new space's first answer", must: { atMost: 1.5 }, unit: 'ms', figure: spreadOf(inProcess.newSpace) },
    {
      what: `opening a store of ${count(manyPets)} pets`,
      must: { atMost: 1.5 },
      unit: 's',
      figure: spreadOf(opening.seconds),
    },
    { what: 'memory then', must: { atMost: 300 }, unit: 'MB', figure: spreadOf(opening.megabytes) },
    {
      what: `memory after ${count(manyRequests)} requests to after ${count(fewRequests)}`,
      must: { atMost: 1.2 },
      unit: '',
      figure: once(memoryGrowth.afterMany / memoryGrowth.afterFew),
    },
  ]
}

const TO_BARE = {
  listPets: { must: { atLeast: 0.9 }, goal: 1 },
  getPet: { must: { atLeast: 1 } },
  createPet: { must: { atLeast: 0.8 } },
} as const satisfies Record<Operation, Pick<Budget, 'must' | 'goal'>>

export function isMet({ must, figure: { median } }: Budget): boolean {
  return 'atLeast' in must ? median >= must.atLeast : median <= must.atMost
}

function nameOf(operation: string): string {
  return operation === 'createPet' ? 'createPet, written,' : operation
}
