/** One way in which a request breaks the contract, as a sentence part: "limit must be at most 100 (it is 500)". */
export interface Violation {
  readonly in: 'query' | 'path' | 'body'
  /** Parameter name or body field path ("categoryId"), empty for the body as a whole. */
  readonly name: string
  readonly message: string
}

/** What was read from one part of a request. `values` may be used only when there are no violations. */
export interface Reading<T> {
  readonly values: T
  /** Every violation at once. */
  readonly violations: readonly Violation[]
  /** Names that the contract does not know; they are ignored. */
  readonly unknown: readonly string[]
}

/** One documented answer of an operation. */
export interface DocumentedResponse {
  readonly status: number
  /** The first named example's JSON text, exactly as it is to be sent. Undefined where the contract has none. */
  readonly example?: string
}

/** One operation of the contract being served. */
export interface Operation {
  readonly id: string
  /** Upper case. */
  readonly method: string
  /** Relative to the base path, as in openapi.yaml: `/pets/{petId}`. */
  readonly path: string
  readonly deprecated: boolean
  /** Instant of removal, milliseconds since the epoch, from `x-deprecated-sunset`. */
  readonly sunsetAt?: number
  /** From `x-stability`: experimental, beta, … */
  readonly stability?: string
  readonly responses: ReadonlyMap<number, DocumentedResponse>
  /** Whether the contract declares a request body for it. */
  readonly takesBody: boolean

  /** Reads and checks the query. `search` is what follows the "?", raw; defaults are filled in. */
  readQuery(search: string): Reading<Readonly<Record<string, unknown>>>
  /** Reads and checks the path parameters, given raw (percent-encoded) in the path's order. int64 must be canonical. */
  readPath(captured: readonly string[]): Reading<Readonly<Record<string, unknown>>>
  /** Reads and checks a JSON body: missing, invalid UTF-8, malformed (says where), no object, wrong fields. */
  readBody(body: Uint8Array | undefined): Reading<Readonly<Record<string, unknown>>>
}

/** Requests allowed in each window; undefined where the contract says "custom". */
export interface PlanLimits {
  readonly perMinute: number | undefined
  readonly perDay: number | undefined
}

export type Route =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly captured: readonly string[] }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' }

/** The contract being served: the packaged openapi.yaml, or the one given with --spec. */
export interface Contract {
  readonly title: string
  readonly version: string
  readonly operations: readonly Operation[]
  readonly plans: Readonly<Record<'free' | 'pro' | 'business' | 'enterprise', PlanLimits>>
  /** Finds the operation of a method and a path relative to the base path ("/pets/1"). HEAD goes where GET goes; allow lists HEAD beside GET. */
  route(method: string, path: string): Route
}
