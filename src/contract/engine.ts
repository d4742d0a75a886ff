/** A request as it came, for Prism to judge and to answer. */
export interface EngineRequest {
  readonly method: string
  /** Relative to the base path, raw. */
  readonly path: string
  /** What followed the "?", raw. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface EngineAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What is wrong with a request. */
export interface EngineRefusal {
  /** Of the path: there is nothing there. Of the media type: it is none of the contract's. */
  readonly of: 'path' | 'media-type' | 'request'
  readonly violations: readonly string[]
}

/** What only Prism can do. */
export interface ContractEngine {
  /**
   * Makes up an answer from the contract: the first example, else a value of the schema; the same each time.
   * `violations` says what is wrong with the request.
   */
  mock(request: EngineRequest): Promise<EngineAnswer | EngineRefusal>
  /** Says how an answer breaks the contract: status, headers, body. Empty if it keeps it. */
  check(request: EngineRequest, answer: EngineAnswer): Promise<readonly string[]>
}
