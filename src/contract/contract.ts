import type { ContractData, DocumentedResponse, OperationData } from './contract-data.js'
import type { Node, Place } from './document.js'

/** A mistake in a request, as a sentence part: "limit must be at most 100 (it is 500)". */
export interface Violation {
  readonly in: 'query' | 'path' | 'header' | 'body'
  /** Parameter name or body field path ("categoryId"); empty for the whole body. */
  readonly name: string
  readonly message: string
  /** The rule of the schema that it breaks: `required`, `format`. */
  readonly rule?: string
  /** What the rule asks for, such as its limit, format or type, as ajv has it. */
  readonly params?: Values
  /** The value that breaks it. */
  readonly value?: unknown
}

/** One part of a request. `values` are valid only without violations. */
export interface Reading<T> {
  readonly values: T
  readonly violations: readonly Violation[]
  /** Names that the contract does not document; they are ignored. */
  readonly unknown: readonly string[]
  /** Documented names that the sandbox does not apply: a filter by something that no record has. */
  readonly unused?: readonly string[]
}

export type Values = Readonly<Record<string, unknown>>

export type SentHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface Operation extends Omit<OperationData, 'responses'> {
  readonly responses: ReadonlyMap<number, DocumentedResponse>
  readonly takesBody: boolean
  /** Prism mocks it, even if the sandbox has a handler (--mock). */
  readonly isMocked: boolean

  /** Reads and validates the query, raw, without the "?". Fills in defaults. */
  readQuery(search: string): Reading<Values>
  /** Reads and validates the raw path parameters, in the path's order. int64 must be canonical. */
  readPath(captured: readonly string[]): Reading<Values>
  /** Finds violations in headers and cookies. */
  checkHeaders(headers: SentHeaders): readonly Violation[]
  /** @param contentType default: the first documented one */
  readBody(body: Uint8Array | undefined, contentType?: string): Reading<Values>
  checkBody(fields: Values): readonly Violation[]
}

export type Route =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly captured: readonly string[] }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[]; readonly isPublic: boolean }
  | { readonly kind: 'unknown'; readonly isPublic: boolean }

/** What the responses of a contract given with --spec allow a record to be. */
export interface RecordRules {
  /** Its schema in a response; undefined if none has one. */
  readonly record: Place | undefined
  /** Lists how a record would break a documented response. */
  findViolations(record: object): readonly string[]
}

/** The contract being served: the packaged openapi.yaml, or the one given with --spec. */
export interface Contract extends Omit<ContractData, 'operations'> {
  readonly operations: readonly Operation[]
  /** It is the packaged one, whose fixtures are packaged too. */
  readonly isPackaged?: boolean
  /** What records may be, by resource; undefined if nothing serves them. */
  readonly rules?: ReadonlyMap<string, RecordRules>
  /** Finds the operation of a method and a path relative to the base path ("/pets/1"). HEAD is routed like GET. */
  route(method: string, path: string): Route
  /** The document in the form that the sandbox reads: OpenAPI 3.1 in one file. */
  document(): Promise<Node>
  /** The document as YAML or JSON; verbatim in its own format. */
  text(format: 'yaml' | 'json'): Promise<string>
}

export type { DocumentedResponse } from './contract-data.js'
