import type { JsonSchema } from './json-schema.js'
import { nativePattern } from './patterns.js'
import type { Validator } from './validator.js'
import { MAX_MISTAKES } from './validators.js'
import { isWide } from './wide.js'

export type ValidatorMaker = (schema: () => JsonSchema) => Validator

/**
 * Makes validators at run time. Each is compiled when it is first used: a contract has more than a run needs. A schema
 * with very many schemas in it is compiled at once, because the first request would wait for it. A pattern
 * that cannot be used is not checked, nor a schema that is no JSON Schema.
 *
 * @param patterns linear if clients choose the texts
 * @param others hasWide: whether a schema of the contract is {@link isWide}. maxErrors: about the number of errors
 *   after which a validation ends
 */
export async function validatorMaker(
  patterns: 'linear' | 'native',
  { hasWide = false, maxErrors = MAX_MISTAKES }: { readonly hasWide?: boolean; readonly maxErrors?: number } = {},
): Promise<ValidatorMaker> {
  const { boundedCompiler } = await import('./bounded-ajv.js')
  const find = patterns === 'native' ? nativePattern : (await import('./linear-pattern.js')).linearPattern
  return makerWith(boundedCompiler({ find, maxErrors }), hasWide)
}

export function makerWith(make: (schema: JsonSchema, isEager: boolean) => Validator, hasWide = false): ValidatorMaker {
  return (schema) => {
    let compiled: Validator | undefined
    const early = hasWide ? schema() : true
    if (isWide(early) || Object.values(Object(Object(early).$defs)).some(isWide)) compiled = compile(early, true)
    const validator: Validator = (value) => {
      compiled ??= compile(schema(), false)
      const isValid = compiled(value)
      validator.errors = compiled.errors ?? null
      return isValid
    }
    return validator
  }

  function compile(schema: JsonSchema, isEager: boolean): Validator {
    try {
      return make(schema, isEager)
    } catch {
      return () => true
    }
  }
}
