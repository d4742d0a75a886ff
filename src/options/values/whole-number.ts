import * as v from 'valibot'

/** A whole number from least to most, both allowed. */
export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  const message = wholeNumberRule(least, most)
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(least, message), v.maxValue(most, message))
}

/** A whole number, or a word that stands for none. */
export function wholeNumberOr<const Word extends string>(word: Word, least: number) {
  const message = `${wholeNumberRule(least, Number.MAX_SAFE_INTEGER)}, or ${word}`
  return v.union(
    [v.pipe(v.number(message), v.safeInteger(message), v.minValue(least, message)), v.literal(word, message)],
    message,
  )
}

function wholeNumberRule(least: number, most: number): string {
  return most === Number.MAX_SAFE_INTEGER
    ? `must be a whole number of ${least} or more`
    : `must be a whole number from ${least} to ${most}`
}
