import stringWidth from 'string-width'
import { isNode, stringifyJson } from '../contract/json.js'
import type { Output } from './io.js'
import { escapeControls, terminalWidth } from './print.js'

const GAP = '  '
const MIN_COLUMN_WIDTH = 6
const NUMBER = /^-?\d*$/

export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
  uncut: readonly string[] = [],
): string {
  return rows.length === 0 ? '' : aligned([head, ...rows], width, uncut)
}

/**
 * @param width of a line in cells; the widest columns are cut to fit
 * @param uncut titles of columns that are cut last, as those of numbers are
 */
export function aligned(
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
  uncut: readonly string[] = [],
): string {
  const cells = rows.map((row) => row.map(escapeControls))
  const natural = (cells[0] ?? []).map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, cellWidth(row[column] ?? '')), 0),
  )
  const isWhole = natural.map(
    (_, column) =>
      uncut.includes(cells[0]?.[column] ?? '') || cells.slice(1).every((row) => NUMBER.test(row[column] ?? '')),
  )
  const widths = narrowed(natural, isWhole, width - GAP.length * (natural.length - 1))
  const line = (row: readonly string[]) =>
    row.map((cell, column) => padCells(fitCells(cell, widths[column] ?? 0), widths[column] ?? 0)).join(GAP)
  return cells.map((row) => fitCells(line(row).trimEnd(), width)).join('\n')
}

export function lineWidth(stream: Output): number {
  return terminalWidth(stream) ?? Number.POSITIVE_INFINITY
}

/** Cuts the widest columns to the same width. @param whole columns that are cut only as a last resort */
function narrowed(widths: readonly number[], whole: readonly boolean[], room: number): readonly number[] {
  const narrow = (most: number) => widths.map((width, column) => (whole[column] ? width : Math.min(width, most)))
  const sum = (all: readonly number[]) => all.reduce((total, width) => total + width, 0)
  if (sum(widths) <= room) return widths
  if (whole.includes(true) && sum(narrow(MIN_COLUMN_WIDTH)) > room) return narrowed(widths, [], room)
  let most = Math.max(MIN_COLUMN_WIDTH, room)
  while (most > MIN_COLUMN_WIDTH && sum(narrow(most)) > room) most--
  const cut = narrow(most)
  let rest = Math.max(0, room - sum(cut))
  return cut.map((width, column) => (width < (widths[column] ?? 0) && rest-- > 0 ? width + 1 : width))
}

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

interface Rows {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Lays out a list of objects in a row each, or an object in a row for each field. @returns undefined for other values */
export function toRows(value: unknown): Rows | undefined {
  const cell = (field: unknown) => (typeof field === 'string' ? field : field === undefined ? '' : stringifyJson(field))
  if (Array.isArray(value)) {
    if (!value.every(isNode)) return undefined
    const head = [...new Set(value.flatMap((item) => Object.keys(item)))]
    return { head, rows: value.map((item) => head.map((name) => cell(item[name]))) }
  }
  if (!isNode(value)) return undefined
  return { head: ['field', 'value'], rows: Object.entries(value).map(([name, field]) => [name, cell(field)]) }
}
