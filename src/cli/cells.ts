import stringWidth from 'string-width'

// A terminal counts in cells: a CJK character or an emoji takes two, a combining mark none.

const ELLIPSIS = '…'
/** Nearly every text is, and its length is its width. */
const ASCII = /^[ -~]*$/

let segmenter: Intl.Segmenter | undefined

/** How many cells of a terminal a text of one line takes; colours take none. */
export function cellWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text)
}

/** A text without colours, cut with an ellipsis where it takes more cells than there are. */
export function fitCells(text: string, cells: number): string {
  // No character takes less than half a cell for each of its units, but marks do: only a short text is measured whole.
  if (text.length <= cells * LONGEST_CHARACTER && cellWidth(text) <= cells) return text
  if (cells < 1) return ''
  let taken = 0
  let end = 0
  segmenter ??= new Intl.Segmenter()
  for (const { segment, index } of segmenter.segment(text.slice(0, cells * LONGEST_CHARACTER))) {
    const width = cellWidth(segment)
    if (taken + width > cells - 1) break
    taken += width
    end = index + segment.length
  }
  return text.slice(0, end) + ELLIPSIS
}

/** Units of one character, marks and joined emoji included; what has more is not worth the time to measure it. */
const LONGEST_CHARACTER = 32

/** A text, filled up with blanks to a width; what is wider stays as it is. */
export function padCells(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - cellWidth(text)))
}

/** Breaks a text between its words into rows of a width; a word that is wider than a row is cut. */
export function wrapCells(text: string, cells: number): readonly string[] {
  const rows: string[] = []
  let row = ''
  for (const word of text.split(' ').map((part) => fitCells(part, cells))) {
    const longer = row === '' ? word : `${row} ${word}`
    if (cellWidth(longer) <= cells) row = longer
    else {
      rows.push(row)
      row = word
    }
  }
  return [...rows, row]
}
