import { _, type Code, type CodeKeywordDefinition, type KeywordCxt, str } from 'ajv'
import type { Int64Bounds } from './json-schema.js'

/** Loaded late: the packaged contract is compiled by the build. */
export { Ajv2020 } from 'ajv/dist/2020.js'

/** For exact whole numbers, numbers or bigints. It generates code: only such keywords can be compiled into a file. */
export const INT64_KEYWORD: CodeKeywordDefinition = {
  keyword: 'int64',
  schemaType: 'object',
  error: {
    message: ({ schema }) =>
      // Without a format, the bounds have hundreds of digits.
      str`must be a whole number${schema.minimum.length > 20 ? '' : ` from ${schema.minimum} to ${schema.maximum}`}`,
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

function allOf(conditions: readonly Code[]): Code {
  return conditions.reduce((left, right) => _`${left} && ${right}`)
}

function numberLiteral(text: string): Code | undefined {
  const value = Number(text)
  return Number.isSafeInteger(value) ? _`${value}` : undefined
}

function bigintLiteral(text: string): Code {
  return _`BigInt(${text})`
}
