import { messageOf } from '../system/message-of.js'
import type { JsonSchema } from './json-schema.js'
import { SpecError } from './spec-error.js'

/** The parts of an ajv error that we use. */
export interface Mistake {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
}

/** A compiled schema. Like ajv's functions, it keeps the errors of its last run. */
export interface Validator {
  (value: unknown): unknown
  errors?: readonly Mistake[] | null
}

/** Compiled schemas by their name: `<operation>_query`, `<operation>_path`, `<operation>_body`. */
export type Validators = Readonly<Record<string, Validator | undefined>>
export type Schemas = Readonly<Record<string, JsonSchema>>

/** The options under which schemas are compiled, at build time and at run time. */
export const AJV_OPTIONS = {
  // All violations are reported at once.
  allErrors: true,
  strict: false,
  validateFormats: false,
  // parseJson gives NaN or Infinity for a number that no double holds.
  strictNumbers: true,
  validateSchema: false,
  logger: false,
} as const

/**
 * Compiles schemas while running. Requests of the packaged contract do not need it, whose schemas are compiled when it is built.
 *
 * @param patterns linear where strangers choose what is matched: no text then takes longer than its length asks for
 * @param others   what differs from the usual options
 * @throws SpecError naming the schema that cannot be compiled: a pattern that is none, or that cannot be matched so
 */
export async function compileValidators(
  schemas: Schemas,
  patterns: 'linear' | 'native',
  others: { readonly allErrors?: boolean } = {},
): Promise<Validators> {
  const { Ajv2020, INT64_KEYWORD } = await import('./ajv.js')
  const regExp = patterns === 'linear' ? (await import('./linear-pattern.js')).linearPattern : undefined
  const options = { ...AJV_OPTIONS, ...others }
  const ajv = new Ajv2020(regExp === undefined ? options : { ...options, code: { regExp } })
  ajv.addKeyword(INT64_KEYWORD)
  const compiled = (name: string, schema: JsonSchema): Validator => {
    try {
      return ajv.compile(schema)
    } catch (error) {
      throw new SpecError(
        `the schema of ${name.replace(/_(query|path|body)$/, ' $1')} cannot be used: ${messageOf(error)}`,
      )
    }
  }
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, compiled(name, schema)]))
}
