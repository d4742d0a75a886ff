export class SpecError extends Error {
  override readonly name = 'SpecError'
  readonly code = 'SPEC_INVALID'
}
