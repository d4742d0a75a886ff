import { type DurationMs, type EpochMs, MINUTE_MS } from '../domain/time.js'

export interface TimelineCell {
  requests: number
  /** The most requests in the minute window and in the day window, had nothing been refused. */
  minute: number
  day: number
  readonly refused: number[]
}

/** Lengths of a cell in minutes; each is a multiple of the one before. */
const WIDTHS = [1, 5, 15, 60, 240, 1440, 7 * 1440, 28 * 1440, 364 * 1440]
/** A plot has no more pixels across. */
const MAX_CELLS_OF_KEY = 1440
const MAX_CELLS = 50_000

export class Timeline {
  readonly #keys = new Map<string, Map<number, TimelineCell>>()
  #level = 0
  #cells = 0

  get width(): DurationMs {
    return (WIDTHS[this.#level] ?? 0) * MINUTE_MS
  }

  add(key: string, at: EpochMs, minute: number, day: number, refused: readonly number[]): void {
    const cells = this.#keys.get(key) ?? new Map<number, TimelineCell>()
    this.#keys.set(key, cells)
    if (addCell(cells, Math.floor(at / this.width), { requests: 1, minute, day, refused: [...refused] })) this.#cells++
    while ((this.#cells > MAX_CELLS || cells.size > MAX_CELLS_OF_KEY) && this.#level < WIDTHS.length - 1) this.#widen()
  }

  of(key: string): readonly (readonly [EpochMs, Readonly<TimelineCell>])[] {
    return [...(this.#keys.get(key) ?? [])]
      .sort(([one], [other]) => one - other)
      .map(([index, cell]) => [index * this.width, cell] as const)
  }

  #widen(): void {
    const before = this.width
    this.#level++
    const factor = this.width / before
    this.#cells = 0
    for (const cells of this.#keys.values()) {
      const narrow = [...cells]
      cells.clear()
      for (const [index, cell] of narrow) addCell(cells, Math.floor(index / factor), cell)
      this.#cells += cells.size
    }
  }
}

/** @returns whether the cell is new */
function addCell(cells: Map<number, TimelineCell>, index: number, added: TimelineCell): boolean {
  const cell = cells.get(index)
  if (cell === undefined) {
    cells.set(index, added)
    return true
  }
  cell.requests += added.requests
  cell.minute = Math.max(cell.minute, added.minute)
  cell.day = Math.max(cell.day, added.day)
  for (const [plan, count] of added.refused.entries()) cell.refused[plan] = (cell.refused[plan] ?? 0) + count
  return false
}
