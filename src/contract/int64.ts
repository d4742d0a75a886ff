/**
 * A whole number from -2^63 to 2^63-1, as the contract's `format: int64` has it.
 *
 * It is a number while that is exact (|n| < 2^53) and a bigint beyond, never the
 * other way round, so that two equal values are always `===`.
 */
export type Int64 = number | bigint
