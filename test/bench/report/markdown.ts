import type { Spread } from '../statistics.js'

/** A table whose first column is text and whose others are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}

/** `1,000,000` */
export function count(figure: number): string {
  return Math.round(figure).toLocaleString('en-US')
}

/** Three digits that mean something, `0.82`, `4.13`, `52.3`, `1,230`. */
export function digits(figure: number): string {
  if (figure >= 100) return count(figure)
  return figure >= 10 ? figure.toFixed(1) : figure.toFixed(2)
}

/** The median, and between what the figures lay: `0.82 (0.79–0.85)`. */
export function spread({ median, low, high }: Spread): string {
  return low === high ? digits(median) : `${digits(median)} (${digits(low)}–${digits(high)})`
}
