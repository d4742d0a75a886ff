import type { Int64 } from './int64.js'
import type { ErrorData, ResourceAction, ResourceData } from './resource-data.js'

/** An OpenAPI document as plain JSON, with its references resolved. */
export interface ContractData {
  readonly title: string
  readonly version: string
  /** Path of the first server, without a trailing slash; empty for the root. */
  readonly basePath: string
  /** Headers that hold the API key; clients send the first. */
  readonly keyHeaders: readonly [KeyHeader, ...KeyHeader[]]
  /** Other places of the key. */
  readonly otherKeys?: readonly OtherKey[]
  /** The document has no header for keys: a bearer token does for each of its other places. */
  readonly isStandIn?: boolean
  /** A scheme says that its bearer tokens are JWTs. */
  readonly hasJwt?: boolean
  /** For the start: what the sandbox does in place of something in the document. */
  readonly notes: readonly string[]
  readonly plans: Plans
  /** Of keys without a plan, and of requests without a key. */
  readonly defaultPlan?: string
  /** The forms of errors that an operation does not document, if they are not the service's own: by status, or `default`. */
  readonly commonErrors?: Readonly<Record<string, ErrorData>>
  readonly operations: readonly OperationData[]
  readonly resources: readonly ResourceData[]
}

/** A header of limits as the contract documents it. */
export interface LimitHeader {
  readonly name: string
  readonly shows: 'limit' | 'remaining' | 'reset' | 'retry'
  /** Of an instant: seconds or milliseconds to wait, an epoch in seconds or milliseconds, a date, a duration. */
  readonly form: 'wait' | 'wait-ms' | 'epoch' | 'epoch-ms' | 'http-date' | 'iso-date' | 'duration'
  /** The sandbox sends it anyway if there are quotas. */
  readonly isOwn?: boolean
}

export interface KeyHeader {
  readonly name: string
  readonly prefix: string
}

/** A query parameter, a cookie, HTTP Basic, or Authorization with any scheme. */
export interface OtherKey {
  readonly in: 'query' | 'cookie' | 'basic' | 'authorization'
  readonly name: string
  /** Of Authorization, if the contract names one: `Token`. */
  readonly scheme?: string
}

export type KeyPlace = KeyHeader | OtherKey

/** Places that must all have a key. */
export type KeyPlaces = readonly [KeyPlace, ...KeyPlace[]]

/** Requests allowed in each window; undefined where the contract says "custom". */
export interface PlanLimits {
  readonly perMinute?: number | undefined
  readonly perDay?: number | undefined
}

/** By name, smallest first; empty without quotas. */
export type Plans = Readonly<Record<string, PlanLimits>>

export interface OperationData {
  /** `operationId`, or method and path where the contract has none: `DELETE/pets/{petId}`. */
  readonly id: string
  readonly method: string
  /** Relative to the base path: `/pets/{petId}`. */
  readonly path: string
  /** Path parameters that hold a whole path, as in gRPC, with its template: `name` and `shelves/{shelves}`. */
  readonly names?: Readonly<Record<string, string>>
  readonly summary?: string
  readonly description?: string
  readonly deprecated: boolean
  /** Milliseconds since the epoch, from `x-deprecated-sunset`. */
  readonly sunsetAt?: number
  /** Milliseconds since the epoch, from `x-deprecated-since`. */
  readonly deprecatedSince?: number
  /** Replacement, relative to the base path, from `x-deprecated-successor`: `/pets?status=available`. */
  readonly successor?: string
  /** From `x-stability`: experimental, beta, … */
  readonly stability?: string
  /** Path parameters in the path's order, then the query's. */
  readonly parameters: readonly Parameter[]
  /** Headers and cookies. */
  readonly headers?: readonly Parameter[]
  readonly body?: Body
  /** No schema describes the successful response. */
  readonly undocumentedShape: boolean
  readonly responses: readonly DocumentedResponse[]
  /** Its effect on a resource. Undefined if it does not fit one, so that Prism mocks it. */
  readonly action?: ResourceAction
  readonly whyMocked?: string
  /** First digits of documented status ranges: 4 for `4XX`. */
  readonly ranges?: readonly number[]
  /** It documents `default`. */
  readonly hasDefault?: true
  /** Headers that it documents beside those of the service, for web pages: `Location, X-Total`. */
  readonly exposed?: string
  /** It needs no API key. */
  readonly isPublic?: boolean
  /** It needs no key, and has the name of a login and a place for a token in its response. */
  readonly isLogin?: boolean
  /** Alternatives for its key. Default: each place of the contract. */
  readonly keys?: readonly KeyPlaces[]
  /** Documented headers that show a limit, beside those of the packaged contract. */
  readonly limitHeaders?: readonly LimitHeader[]
  /** Documented errors whose body is not the service's own. */
  readonly errors?: readonly ErrorData[]
}

export type ValueType = 'integer' | 'number' | 'boolean' | 'string' | 'array' | 'other'

export interface Expected {
  readonly type: ValueType
  readonly itemType?: ValueType
  /** Continues "must be …": "a whole number from 1 to 100". Undefined if it cannot be described briefly. */
  readonly wording?: string
  readonly description?: string
  readonly enum?: readonly unknown[]
  /** For integers, if narrower than int64. */
  readonly minimum?: Int64
  readonly maximum?: Int64
  readonly default?: unknown
}

/** @source OpenAPI specification: Style Values */
export type Style = 'form' | 'simple' | 'label' | 'matrix' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json'

/** The JSON types of a value, and of what is in it; none for any. */
export interface ValueForm {
  readonly types: readonly string[]
  /** The text is a file, which may contain JSON. */
  readonly isFile?: true
  readonly items?: ValueForm
  readonly fields?: Readonly<Record<string, ValueForm>>
}

export interface Parameter extends Expected {
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly name: string
  readonly required: boolean
  /** How its values become texts; `json` for one that has a content. */
  readonly style: Style
  readonly explode: boolean
  readonly form: ValueForm
  readonly example?: unknown
}

export interface Body {
  readonly required: boolean
  /** Lower case, without parameters; the first is JSON if it is documented. */
  readonly mediaTypes: readonly string[]
  readonly fields: readonly Field[]
  /** If a form is documented. */
  readonly formFields?: readonly Parameter[]
  /** It need not be an object, as no record is made of it. */
  readonly takesAnyValue?: boolean
  /** It is a list of records, the value of the name "". */
  readonly takesList?: boolean
  /** Fields that are not declared are kept. */
  readonly isOpen?: boolean
  readonly example?: string
}

export interface Field extends Expected {
  readonly name: string
  readonly required: boolean
}

export interface DocumentedResponse {
  readonly status: number
  readonly example?: string
}

/** @source RFC 6750, section 2.1 */
export const BEARER: KeyHeader = { name: 'Authorization', prefix: 'Bearer ' }
