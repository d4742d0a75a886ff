import type { Operation } from './contract.js'

export interface EngineRequest {
  readonly method: string
  /** Relative to the base path, raw. */
  readonly path: string
  /** Raw, without the "?". */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface EngineResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** False if the body was not valid UTF-8, so that this text is only close to it. */
  readonly isUtf8?: boolean
}

export interface MockRequest {
  readonly operation: Operation
  /** The documented status; default: the first success. */
  readonly status?: number | undefined
  /** The name of an example; default: the first one. */
  readonly example?: string | undefined
  /** The client's header. */
  readonly accept?: string | undefined
}

export interface MockedResponse extends EngineResponse {
  /** The example that was asked for, if it is this one. */
  readonly example?: string
  /** Why the body breaks its schema. */
  readonly note?: string
}

export interface ContractEngine {
  /** Mocks a response: the first valid example, otherwise a value of the schema; always the same. */
  mock(request: MockRequest): Promise<MockedResponse>
}
