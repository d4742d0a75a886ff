import { escapeControls } from '../escape-controls.js'

const GAP = '  '

/** Rows in aligned columns, one line each; empty if there are none. Cells are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : aligned([head, ...rows])
}

/** The same without a head. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(escapeControls))
  const widths = (cells[0] ?? []).map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, widthOf(row[column] ?? '')), 0),
  )
  const line = (row: readonly string[]) =>
    row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))).join(GAP)
  return cells.map((row) => line(row).trimEnd()).join('\n')
}

function widthOf(text: string): number {
  return [...text].length
}
