/** What can be wrong with a target. */
export type TargetErrorCode =
  /** A flag, a variable or a key cannot be used. */
  | 'INVALID_TARGET'
  | 'UNKNOWN_TARGET'
  /** Nobody has said where it is. */
  | 'TARGET_NOT_SET'
  | 'INVALID_CONFIG'
  | 'CANNOT_WRITE'

/** A target cannot be used, or not be kept. The message never holds a key. */
export class TargetError extends Error {
  override readonly name = 'TargetError'
  readonly code: TargetErrorCode

  constructor(code: TargetErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
