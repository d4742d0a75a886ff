export interface EngineRequest {
  readonly method: string
  /** Relative to the base path, raw. */
  readonly path: string
  /** Raw, without the "?". */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The documented status to mock, even for an invalid request; default: the first success. */
  readonly forced?: number
}

export interface EngineResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** False if the body was not valid UTF-8, so that this text is only close to it. */
  readonly isUtf8?: boolean
}

export interface EngineRefusal {
  /** `path`: the path is invalid. `media-type`: the media type is not documented. */
  readonly of: 'path' | 'media-type' | 'request'
  readonly violations: readonly string[]
}

export interface ContractEngine {
  /** Mocks a response: the first example, otherwise a value of the schema; always the same. Invalid requests are refused. */
  mock(request: EngineRequest): Promise<EngineResponse | EngineRefusal>
}

export interface ClosableEngine extends ContractEngine {
  close(): Promise<void>
}
