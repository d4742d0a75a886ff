/** A verb was refused, and nothing was changed; or no sandbox has responded. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  /** `invalid_request`, `not_found`, `conflict`, `too_many_spaces`, `forbidden` … */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}
