/**
 * A whole number from -2^63 to 2^63-1, as the contract's `format: int64` has it.
 *
 * It is a number while that is exact (|n| < 2^53) and a bigint beyond, never the
 * other way round, so that two equal values are always `===`.
 */
export type Int64 = number | bigint

/** @source OpenAPI format registry, "int64" */
export const INT64_MINIMUM = -(2n ** 63n)
export const INT64_MAXIMUM = 2n ** 63n - 1n

const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d*)$/
/** A whole number this short is below 2^53. */
const ALWAYS_SAFE_LENGTH = 15
/** "-9223372036854775808" */
const LONGEST_LENGTH = 20

/** The one form that a whole number has: a number while that is exact, a bigint beyond. */
export function exactInteger(value: bigint): Int64 {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/**
 * Reads an int64 from a path or a query. There is one way to write each:
 * no plus sign, no leading zeros, no "-0", so that each pet has one address.
 *
 * @returns the value, or undefined if the text is not a canonical int64
 */
export function parseInt64(text: string): Int64 | undefined {
  if (!CANONICAL_INTEGER.test(text)) return undefined
  if (text.length <= ALWAYS_SAFE_LENGTH) return Number(text)
  if (text.length > LONGEST_LENGTH) return undefined
  const value = BigInt(text)
  return value >= INT64_MINIMUM && value <= INT64_MAXIMUM ? exactInteger(value) : undefined
}
