import { type DurationMs, type EpochMs, HOUR_MS, MINUTE_MS } from '../domain/time.js'

/** A stretch of time of one key's traffic. */
export interface TimelineCell {
  requests: number
  /** The most requests in the minute window, and in the day window, had nothing been refused. */
  minute: number
  day: number
  /** Requests that each plan would have refused, in the plans' order. */
  readonly refused: number[]
}

/** Lengths of a cell; each is a multiple of the one before. */
const WIDTHS: readonly DurationMs[] = [1, 5, 15, 60, 240, 1440, 7 * 1440, 28 * 1440, 364 * 1440].map(
  (minutes) => minutes * MINUTE_MS,
)
/** A plot is not wider in dots. */
const MOST_CELLS_A_KEY = 24 * (HOUR_MS / MINUTE_MS)
const MOST_CELLS = 50_000

/** What happened when, by key, in cells of one length: it grows where they would be too many. */
export class Timeline {
  readonly #keys = new Map<string, Map<number, TimelineCell>>()
  #level = 0
  #cells = 0

  get width(): DurationMs {
    return WIDTHS[this.#level] ?? 0
  }

  /** Counts a request: how full its windows are with it, and which plans refuse it. */
  add(key: string, at: EpochMs, minute: number, day: number, refused: readonly number[]): void {
    const cells = this.#cellsOf(key)
    const index = Math.floor(at / this.width)
    const cell = cells.get(index)
    if (cell !== undefined) {
      addTo(cell, 1, minute, day, refused)
      return
    }
    cells.set(index, { requests: 1, minute, day, refused: [...refused] })
    this.#cells++
    while ((this.#cells > MOST_CELLS || cells.size > MOST_CELLS_A_KEY) && this.#level < WIDTHS.length - 1) this.#widen()
  }

  /** The cells of a key that has any, in order of time, each with its beginning. */
  of(key: string): readonly (readonly [EpochMs, Readonly<TimelineCell>])[] {
    return [...(this.#keys.get(key) ?? [])]
      .sort(([one], [other]) => one - other)
      .map(([index, cell]) => [index * this.width, cell] as const)
  }

  #cellsOf(key: string): Map<number, TimelineCell> {
    const known = this.#keys.get(key)
    if (known !== undefined) return known
    const cells = new Map<number, TimelineCell>()
    this.#keys.set(key, cells)
    return cells
  }

  #widen(): void {
    const before = this.width
    this.#level++
    const times = this.width / before
    this.#cells = 0
    for (const cells of this.#keys.values()) {
      const narrow = [...cells]
      cells.clear()
      for (const [index, cell] of narrow) {
        const wide = cells.get(Math.floor(index / times))
        if (wide === undefined) cells.set(Math.floor(index / times), cell)
        else addTo(wide, cell.requests, cell.minute, cell.day, cell.refused)
      }
      this.#cells += cells.size
    }
  }
}

function addTo(cell: TimelineCell, requests: number, minute: number, day: number, refused: readonly number[]): void {
  cell.requests += requests
  if (minute > cell.minute) cell.minute = minute
  if (day > cell.day) cell.day = day
  for (let plan = 0; plan < refused.length; plan++)
    cell.refused[plan] = (cell.refused[plan] ?? 0) + (refused[plan] ?? 0)
}
