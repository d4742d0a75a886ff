import type { ContractData, DocumentedResponse, OperationData } from './contract-data.js'

/** One way in which a request breaks the contract, as a sentence part: "limit must be at most 100 (it is 500)". */
export interface Violation {
  readonly in: 'query' | 'path' | 'body'
  /** Parameter name or body field path ("categoryId"), empty for the body as a whole. */
  readonly name: string
  readonly message: string
}

/** What was read from one part of a request. Use `values` only if there are no violations. */
export interface Reading<T> {
  readonly values: T
  /** Every violation at once. */
  readonly violations: readonly Violation[]
  /** Names that the contract does not know; they are ignored. */
  readonly unknown: readonly string[]
}

export type Values = Readonly<Record<string, unknown>>

/** One operation of the contract being served. */
export interface Operation extends Omit<OperationData, 'responses'> {
  readonly responses: ReadonlyMap<number, DocumentedResponse>
  /** Whether the contract declares a request body for it. */
  readonly takesBody: boolean
  /** Prism is to answer it, though the sandbox could (--mock). */
  readonly isMocked: boolean

  /** Reads and checks the query. `search` is what follows the "?", raw; defaults are filled in. */
  readQuery(search: string): Reading<Values>
  /** Reads and checks the path parameters, given raw (percent-encoded) in the path's order. int64 must be canonical. */
  readPath(captured: readonly string[]): Reading<Values>
  /** Reads and checks a JSON body: missing, invalid UTF-8, malformed (says where), no object, wrong fields. */
  readBody(body: Uint8Array | undefined): Reading<Values>
}

export type Route =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly captured: readonly string[] }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' }

/** What a pet may be in the answers that a contract given with --spec documents. */
export interface PetRules {
  /** The fields that every answer with a pet documents; undefined if none says which. */
  readonly fields: ReadonlySet<string> | undefined
  /** Says how a pet would break an answer that is documented; empty if it does not. */
  findBreaches(pet: object): readonly string[]
}

/** The contract being served: the packaged openapi.yaml, or the one given with --spec. */
export interface Contract extends Omit<ContractData, 'operations'> {
  readonly operations: readonly Operation[]
  /** What pets are held to besides the types of this package; undefined for the packaged contract, whose pets are those types. */
  readonly pets?: PetRules
  /** Finds the operation of a method and a path relative to the base path ("/pets/1"). HEAD goes where GET goes; allow lists HEAD beside GET. */
  route(method: string, path: string): Route
  /** The document itself, as YAML or JSON; verbatim if that is its own format. */
  text(format: 'yaml' | 'json'): Promise<string>
}

export type { DocumentedResponse } from './contract-data.js'
