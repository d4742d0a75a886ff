import { isNode } from './json.js'
import type { Mistake } from './validator.js'

/**
 * Steps of one validation. The limit is the same on every machine, so that no verdict depends on time. A step takes about
 * 20 ns, like applying a simple schema. The experiment `hostile-bodies` of `npm run torture` measures it.
 */
export const MAX_STEPS = 1_000_000

export const TOO_LONG = new Error(`needs more than ${MAX_STEPS} checks`)

export class Run {
  left = 0
  readonly verdicts: Map<unknown, Verdict>[] = []
  /** The texts of objects and arrays. */
  readonly texts = new Map<object, string>()

  take(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw TOO_LONG
  }

  takeNames(value: unknown, each: number): void {
    if (isNode(value)) this.take(Object.keys(value).length * each)
  }
}

/** A function that ajv compiled. It keeps its last result in properties. */
export interface Compiled {
  (value: unknown, context?: unknown): boolean
  errors?: readonly Mistake[] | null
  evaluated?: Evaluated
}

interface Evaluated {
  props?: unknown
  items?: unknown
  readonly dynamicProps?: boolean
  readonly dynamicItems?: boolean
}

export interface Verdict {
  readonly errors: readonly Mistake[] | null
  readonly props: unknown
  readonly items: unknown
}

/** The cost of applying a schema, without the schemas in it. */
export interface Price {
  readonly steps: number
  /** For each name of an object. */
  readonly perName: number
  readonly countsCharacters: boolean
  /** Whether the function's errors so far are final: it is not within an alternative. */
  readonly isFinal: boolean
}
