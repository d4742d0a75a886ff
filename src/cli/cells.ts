import stringWidth from 'string-width'

// A terminal counts in cells: a CJK character or an emoji takes two, a combining mark none.

const ELLIPSIS = '…'
const ASCII = /^[ -~]*$/
/** UTF-16 units of one character, with its marks and joined emoji; longer ones are not measured. */
const MAX_UNITS = 32
let segmenter: Intl.Segmenter | undefined

export function cellWidth(text: string): number {
  return ASCII.test(text) ? text.length : stringWidth(text)
}

export function fitCells(text: string, cells: number): string {
  if (text.length <= cells * MAX_UNITS && cellWidth(text) <= cells) return text
  if (cells < 1) return ''
  let taken = 0
  let end = 0
  segmenter ??= new Intl.Segmenter()
  for (const { segment, index } of segmenter.segment(text.slice(0, cells * MAX_UNITS))) {
    taken += cellWidth(segment)
    if (taken > cells - 1) break
    end = index + segment.length
  }
  return text.slice(0, end) + ELLIPSIS
}

export function padCells(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(0, cells - cellWidth(text)))
}

/** Wraps a text between words; words wider than a row are cut. */
export function wrapCells(text: string, cells: number): readonly string[] {
  const [first = '', ...words] = text.split(' ').map((word) => fitCells(word, cells))
  const rows = [first]
  for (const word of words) {
    const row = rows.pop() ?? ''
    const longer = row === '' ? word : `${row} ${word}`
    if (cellWidth(longer) <= cells) rows.push(longer)
    else rows.push(row, word)
  }
  return rows
}
