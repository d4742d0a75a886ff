import type { Operation } from './contestants/contestant.js'

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
  /** What is called to see growth by log and spaces. */
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
  // It takes V8 so long to compile everything that a createPet needs.
  warmUpSeconds: 3,
  pets: [120, 10_000, 1_000_000],
  spaces: 1_000,
  growthOf: ['listPets', 'getPet', 'createPet'],
  requests: [10_000, 1_000_000],
  shortRounds: 21,
  longRounds: 3,
}

/** A minute, to see whether everything works; its figures are no good. */
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
