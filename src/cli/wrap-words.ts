const INDENT = '  '
/** From here on, nearly every character takes two cells of a terminal; below, none does. */
const FIRST_WIDE = 0x1100

/**
 * Ends the rows of a text between its words, and indents those that follow the
 * first. A word is never broken: paths, addresses and flags can be copied.
 *
 * Marks that take no cell are counted as if they did, so that a row may end
 * earlier than it must: it costs less than what counts cells (cells.ts) takes to load.
 *
 * @param columns cells of a row; undefined where no terminal is, and nothing is wrapped
 */
export function wrapWords(text: string, columns: number | undefined): string {
  if (columns === undefined || text.length < columns / 2) return text
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns - 1))
    .join('\n')
}

function wrapLine(line: string, cells: number): string {
  const [begin = ''] = /^ */.exec(line) ?? []
  const [first = '', ...words] = line.slice(begin.length).split(' ')
  const rows: string[] = []
  let row = begin + first
  let width = widthOf(row)
  for (const word of words) {
    const more = widthOf(word)
    if (width + 1 + more <= cells) {
      row += ` ${word}`
      width += 1 + more
    } else {
      rows.push(row)
      row = begin + INDENT + word
      width = begin.length + INDENT.length + more
    }
  }
  return [...rows, row].join('\n')
}

function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += (character.codePointAt(0) ?? 0) < FIRST_WIDE ? 1 : 2
  return width
}
