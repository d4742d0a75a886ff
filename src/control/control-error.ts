/** A verb was refused, and nothing was changed; or no sandbox has responded. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  /** `invalid_request`, `not_found`, `conflict`, `too_many_spaces`, `forbidden` … */
  readonly code: string
  /** A valid request, if the input was invalid: `POST /clock/advance {"by":"1m"}`. */
  declare readonly example?: string

  constructor(code: string, message: string, example?: string) {
    super(message)
    this.code = code
    if (example !== undefined) this.example = example
  }
}
