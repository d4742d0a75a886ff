/** A request as it came, for Prism to validate and answer. */
export interface EngineRequest {
  readonly method: string
  /** Relative to the base path, raw. */
  readonly path: string
  /** What followed the "?", raw. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The documented status to answer with, whatever the request is; the first success if omitted. */
  readonly forced?: number
}

export interface EngineAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What is wrong with a request. */
export interface EngineRefusal {
  /** `path`: there is nothing there. `media-type`: the contract does not have it. */
  readonly of: 'path' | 'media-type' | 'request'
  readonly violations: readonly string[]
}

/** What only Prism can do. */
export interface ContractEngine {
  /**
   * Makes up a response from the contract: the first example, otherwise a value of the schema; always the same.
   * `violations` says what is wrong with the request.
   */
  mock(request: EngineRequest): Promise<EngineAnswer | EngineRefusal>
}

/** A contract engine that can be stopped. */
export interface ClosableEngine extends ContractEngine {
  close(): Promise<void>
}
