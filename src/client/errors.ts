import { Failure } from '../domain/failures.js'

/** A target cannot be used or stored. The message never contains a key. */
export class TargetError extends Failure {
  override readonly name = 'TargetError'
}
