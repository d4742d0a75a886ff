/** The search is quadratic, and longer words are not mistyped names. */
const LONGEST_WORD = 100

/**
 * Returns "; did you mean …?" with the most similar word, or an empty text. @param prefix number of leading letters
 * common to all words
 */
export function didYouMean(word: string, known: readonly string[], prefix = 0): string {
  if (word.length > LONGEST_WORD) return ''
  let best: string | undefined
  // At most a third of the letters may be wrong.
  let least = Math.max(1, Math.floor((word.length - prefix) / 3)) + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) >= least) continue
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance >= least) continue
    best = candidate
    least = distance
  }
  return best === undefined ? '' : `; did you mean ${best}?`
}

const MAX_NAMED = 10

/** For a name that is not one of the operations: the nearest, or else the first ten. */
export function unknownOperation(name: string, known: readonly string[]): string {
  const more = known.length > MAX_NAMED ? ', …' : ''
  const others = `. Its operations are ${known.slice(0, MAX_NAMED).join(', ') || 'none'}${more}.`
  return `The contract has no operation ${JSON.stringify(name)}${didYouMean(name, known) || others}`
}

/** Optimal string alignment. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const change = from[row - 1] === to[column - 1] ? 0 : 1
      let distance = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + change)
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (swapped) distance = Math.min(distance, at(beforeLast, column - 2) + 1)
      current.push(distance)
    }
    beforeLast = last
    last = current
  }
  return at(last, to.length)
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
