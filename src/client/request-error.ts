export type RequestErrorCode = 'INVALID_REQUEST' | 'UNKNOWN_OPERATION' | 'INVALID_FLAG' | 'CONFIRMATION_NEEDED'

/** A request is not sent. Each message is one reason. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly code: RequestErrorCode
  readonly problems: readonly string[]

  constructor(code: RequestErrorCode, problems: readonly string[]) {
    super(problems.join('; '))
    this.code = code
    this.problems = problems
  }
}
