export interface Mistake {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

/** Like functions of ajv, it keeps the errors of its last run. */
export interface Validator {
  (value: unknown): unknown
  errors?: readonly Mistake[] | null
}
