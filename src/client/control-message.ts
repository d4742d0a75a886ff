export interface ControlRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  /** On a connection of its own: a server reads it after all that was sent before. */
  readonly isLast?: boolean
}

export interface ControlReply {
  readonly status: number
  /** Of the body as it is read; undefined if unknown. */
  readonly length: string | undefined
  readonly body: AsyncIterable<Uint8Array>
}
