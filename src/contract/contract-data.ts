import type { Int64 } from './int64.js'
import type { PlanName } from './plan-names.js'

/** A contract as plain data: what an OpenAPI document says, with its references resolved. Can be written as JSON. */
export interface ContractData {
  readonly title: string
  readonly version: string
  readonly servers: readonly Server[]
  readonly plans: Plans
  readonly operations: readonly OperationData[]
}

/** A base address of the contract, its variables filled in with their defaults. */
export interface Server {
  readonly url: string
  readonly description?: string
}

/** Requests allowed in each window; undefined where the contract says "custom". */
export interface PlanLimits {
  readonly perMinute?: number | undefined
  readonly perDay?: number | undefined
}

export type Plans = Readonly<Record<PlanName, PlanLimits>>

export interface OperationData {
  /** `operationId`, or method and path where the contract has none: `DELETE/pets/{petId}`. */
  readonly id: string
  /** Upper case. */
  readonly method: string
  /** Relative to the base path, as in openapi.yaml: `/pets/{petId}`. */
  readonly path: string
  readonly summary?: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly deprecated: boolean
  /** Instant of removal, milliseconds since the epoch, from `x-deprecated-sunset`. */
  readonly sunsetAt?: number
  /** Instant of its deprecation, milliseconds since the epoch, from `x-deprecated-since`. */
  readonly deprecatedSince?: number
  /** What to GET in its place, relative to the base path, from `x-deprecated-successor`: `/pets?status=available`. */
  readonly successor?: string
  /** From `x-stability`: experimental, beta, … */
  readonly stability?: string
  /** From `x-hideTryItPanel`. */
  readonly hideTryItPanel: boolean
  /** Path parameters in the path's order, then the query's in the document's. Others are left to Prism. */
  readonly parameters: readonly Parameter[]
  readonly body?: Body
  /** The contract does not say what a successful answer looks like. */
  readonly undocumentedShape: boolean
  readonly responses: readonly DocumentedResponse[]
  /** First digits of the ranges of statuses documented beside them: 4 for `4XX`. Undefined if there are none. */
  readonly ranges?: readonly number[]
}

export type ValueType = 'integer' | 'number' | 'boolean' | 'string' | 'array' | 'other'

/** What a parameter or a field may hold. */
export interface Expected {
  readonly type: ValueType
  /** For arrays: what its items are. */
  readonly itemType?: ValueType
  /** Continues "must be …": "a whole number from 1 to 100". Undefined if it cannot be said that briefly. */
  readonly wording?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  /** For integers: the bounds, where they are narrower than those of int64. */
  readonly minimum?: Int64
  readonly maximum?: Int64
  readonly default?: unknown
}

export interface Parameter extends Expected {
  readonly in: 'path' | 'query'
  readonly name: string
  readonly required: boolean
  /** For arrays in a query: whether each item is its own parameter (`a=1&a=2`) rather than one of a list (`a=1,2`). */
  readonly explode: boolean
  /** The value of the first named example. */
  readonly example?: unknown
}

/** The JSON body of a request. */
export interface Body {
  readonly required: boolean
  readonly fields: readonly Field[]
  /** The first named example's JSON text. */
  readonly example?: string
}

export interface Field extends Expected {
  readonly name: string
  readonly required: boolean
}

/** One documented answer of an operation. */
export interface DocumentedResponse {
  readonly status: number
  readonly description: string
  /** The first named example as JSON, exactly as sent. Undefined if the contract has none. */
  readonly example?: string
}
