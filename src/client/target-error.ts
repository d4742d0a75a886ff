import { Failure } from '../domain/failures.js'

/** A target cannot be used, or not be kept. The message never holds a key. */
export class TargetError extends Failure {
  override readonly name = 'TargetError'
}
