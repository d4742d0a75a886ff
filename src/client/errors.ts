import { Failure, type FailureCode } from '../domain/failures.js'

export class RequestError extends Failure {
  override readonly name = 'RequestError'
  readonly problems: readonly string[]

  constructor(code: FailureCode, problems: readonly string[]) {
    super(code, problems.join('; '))
    this.problems = problems
  }
}

/** A target cannot be used or stored. The message never contains a key. */
export class TargetError extends Failure {
  override readonly name = 'TargetError'
}
