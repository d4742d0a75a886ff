/**
 * A whole number from -2^63 to 2^63-1, the contract's `format: int64`.
 *
 * A number below 2^53, otherwise a bigint: so equal values are always `===`.
 */
export type Int64 = number | bigint

/** @source OpenAPI format registry, "int64" */
export const INT64_MINIMUM = -(2n ** 63n)
export const INT64_MAXIMUM = 2n ** 63n - 1n

const CANONICAL_INTEGER = /^(?:0|-?[1-9]\d*)$/
const ALWAYS_SAFE_LENGTH = 15
/** The length of "-9223372036854775808". */
const MAX_LENGTH = 20

export function exactInteger(value: bigint): Int64 {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** Canonical: no plus sign, leading zeros or "-0", so that each pet has one address. */
export function parseInt64(text: string): Int64 | undefined {
  if (!CANONICAL_INTEGER.test(text)) return undefined
  if (text.length <= ALWAYS_SAFE_LENGTH) return Number(text)
  if (text.length > MAX_LENGTH) return undefined
  const value = BigInt(text)
  return value >= INT64_MINIMUM && value <= INT64_MAXIMUM ? exactInteger(value) : undefined
}
