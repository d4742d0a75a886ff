import { Failure, type FailureCode } from '../domain/failures.js'

export class RequestError extends Failure {
  override readonly name = 'RequestError'
  readonly problems: readonly string[]

  constructor(code: FailureCode, problems: readonly string[]) {
    super(code, problems.join('; '))
    this.problems = problems
  }
}
