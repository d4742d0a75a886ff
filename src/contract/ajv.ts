import {
  _,
  type Code,
  type CodeKeywordDefinition,
  type FuncKeywordDefinition,
  type KeywordCxt,
  type Options,
  str,
} from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { _Code } from 'ajv/dist/compile/codegen/code.js'
import { isMultipleOf } from './json.js'
import type { Int64Bounds } from './json-schema.js'

/** Loaded late: the packaged contract is compiled by the build. */
export function createAjv(options: Options): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    // parseJson returns NaN or Infinity for a number that a double cannot hold.
    strictNumbers: true,
    validateSchema: false,
    logger: false,
    ...options,
  })
  return ajv.removeKeyword('multipleOf').addKeyword(MULTIPLE_OF).addKeyword(INT64_KEYWORD)
}

/** In decimals, where 19.99 is a multiple of 0.01. */
export const MULTIPLE_OF: FuncKeywordDefinition = {
  keyword: 'multipleOf',
  error: {
    params: ({ schemaCode }) => _`{multipleOf: ${schemaCode}}`,
    message: ({ schema }) => str`must be a multiple of ${schema}`,
  },
  validate: (step: number | bigint, value: unknown) =>
    (typeof value !== 'number' && typeof value !== 'bigint') || isMultipleOf(value, step),
}

/** For exact whole numbers, numbers or bigints. It generates code: only such keywords can be compiled into a file. */
const INT64_KEYWORD: CodeKeywordDefinition = {
  keyword: 'int64',
  schemaType: 'object',
  error: {
    params: ({ schema: { minimum, maximum, above = null, below = null } }) =>
      _`{minimum: ${shortBound(minimum)}, maximum: ${shortBound(maximum)}, above: ${above}, below: ${below}}`,
    message: ({ schema }) => str`must be a whole number${boundsText(schema)}`,
  },
  code(context: KeywordCxt): void {
    const { data } = context
    const { minimum, maximum }: Int64Bounds = context.schema
    const inBounds = (low: Code | undefined, high: Code | undefined) => [
      ...(low === undefined ? [] : [_`${data} >= ${low}`]),
      ...(high === undefined ? [] : [_`${data} <= ${high}`]),
    ]
    const asNumber = [_`Number.isSafeInteger(${data})`, ...inBounds(numberLiteral(minimum), numberLiteral(maximum))]
    const asBigint = [_`typeof ${data} == "bigint"`, ...inBounds(bigintLiteral(minimum), bigintLiteral(maximum))]
    context.pass(_`(${allOf(asNumber)}) || (${allOf(asBigint)})`)
  },
}

/** Without a format, bounds have hundreds of digits. */
function shortBound(bound: string): string | null {
  return bound.length > 20 ? null : bound
}

function boundsText(bounds: Int64Bounds): string {
  const [minimum, maximum] = [shortBound(bounds.minimum), shortBound(bounds.maximum)]
  if (minimum === null) return maximum === null ? '' : ` of ${maximum} or less`
  return maximum === null ? ` of ${minimum} or more` : ` from ${minimum} to ${maximum}`
}

function allOf(conditions: readonly Code[]): Code {
  return conditions.reduce((left, right) => _`${left} && ${right}`)
}

function numberLiteral(text: string): Code | undefined {
  const value = Number(text)
  return Number.isSafeInteger(value) ? _`${value}` : undefined
}

/** Not `BigInt(text)`, which would read hundreds of digits for each value. */
function bigintLiteral(text: string): Code {
  return new _Code(`(${text}n)`)
}
