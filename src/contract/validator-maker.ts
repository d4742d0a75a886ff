import type { JsonSchema } from './json-schema.js'
import { nativePattern } from './patterns.js'
import type { Validator } from './validator.js'
import { MAX_MISTAKES } from './validators.js'

export type ValidatorMaker = (schema: () => JsonSchema) => Validator

/** Names of one object; compiling more takes a tenth of a second. */
export const MAX_LAZY_NAMES = 300

/**
 * Makes validators at run time. Each is compiled when it is first used: a contract has more than a run needs. A schema
 * with very many properties is compiled at once, because the first request would wait for it. A pattern
 * that cannot be used is not checked, nor a schema that is no JSON Schema.
 *
 * @param patterns linear if clients choose the texts
 * @param others hasWide: whether a schema of the contract has more than {@link MAX_LAZY_NAMES} properties. maxErrors: about
 *   the number of errors after which a validation ends
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
    if (isWide(early)) compiled = compile(early, true)
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

function isWide(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  const inner = Object.values(schema)
  return (inner.length > MAX_LAZY_NAMES && !Array.isArray(schema)) || inner.some(isWide)
}
