import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { retryAt } from './explain-exchange.js'

/** A stretch of time without a break. All have the same width. */
export interface Segment {
  /** Of its first exchange; infinite if it only has the present. */
  readonly firstId: number
  /** What lies between it and the segment before: `+1 h`, `2 min idle`. */
  readonly gap: string
  /** Milliseconds by the space's clock. */
  readonly from: number
  readonly to: number
}

export interface TimeAxis {
  readonly segments: readonly Segment[]
  /** Exchanges before the first segment. */
  readonly hidden: number
  /** The present, as a share of the width. */
  readonly now: number
  /** @returns a share of the width; undefined before the first segment */
  place(exchange: Pick<Exchange, 'id' | 'at'>): number | undefined
  /** The end of a wait that begins with an exchange, which may be in a later segment. */
  placeEnd(exchange: Pick<Exchange, 'id'>, until: number): number
}

const MIN_SEGMENT_MS = 10 * SECOND_MS
const MIN_IDLE_MS = 30 * SECOND_MS
/** Times the mean distance of exchanges. */
const IDLE_FACTOR = 4
/** Requests may overtake each other by this. */
const TOLERANCE_MS = SECOND_MS
const MAX_SEGMENTS = 6
/** Of the width. */
const BREAK_WIDTH = 0.02

/**
 * Breaks where the clock was moved or nothing happened, so that neither squeezes the rest.
 *
 * @param exchanges newest first, at least one
 * @param real the present in real time, if the clock may have been moved after the newest
 */
export function timeAxis(exchanges: readonly Exchange[], now: number, real: number | undefined): TimeAxis {
  const all = exchanges.toReversed()
  const times = all.map(({ at }) => Date.parse(at))
  const realTimes = all.map(({ receivedAt }) => Date.parse(receivedAt))
  const steps = times.map((at, index) => at - (times[index - 1] ?? at))
  const jumps = steps.map((step, index) => jumpOf(step, (realTimes[index] ?? 0) - (realTimes[index - 1] ?? 0)))
  const regular = steps.map((step, index) => (isJump(step, jumps[index] ?? 0) ? 0 : step))
  const sum = regular.reduce((total, step) => total + Math.max(0, step), 0)
  const isIdle = (step: number, rest: number) =>
    step > Math.max(MIN_IDLE_MS, (IDLE_FACTOR * rest) / Math.max(1, all.length - 2))
  const open: Segment[] = []
  for (const [index, { id }] of all.entries()) {
    const at = times[index] ?? 0
    const step = steps[index] ?? 0
    const before = open.at(-1)
    const gap =
      regular[index] !== step ? movedText(jumps[index] ?? 0) : isIdle(step, sum - step) ? `${roundText(step)} idle` : ''
    if (before === undefined || gap !== '') open.push({ firstId: id, gap, from: at, to: at })
    else open[open.length - 1] = { ...before, from: Math.min(before.from, at), to: Math.max(before.to, at) }
  }
  const late = now - (times.at(-1) ?? now)
  const jump = real === undefined ? 0 : jumpOf(late, real - (realTimes.at(-1) ?? real))
  const hasMoved = real !== undefined && isJump(late, jump)
  const gap = hasMoved ? movedText(jump) : `${roundText(late)} idle`
  const hasGap = hasMoved || isIdle(late, sum)
  if (hasGap) open.push({ firstId: Number.POSITIVE_INFINITY, gap, from: now, to: now })
  const shown = open.slice(-MAX_SEGMENTS)
  const first = shown[0]?.firstId ?? 0
  const indexOf = (id: number) => shown.findLastIndex(({ firstId }) => firstId <= id)
  const ends = shown.map(() => 0)
  for (const exchange of all) {
    const index = indexOf(exchange.id)
    if (index >= 0) ends[index] = Math.max(ends[index] ?? 0, retryAt(exchange) ?? 0)
  }
  const segments = shown.map((segment, index) => {
    const next = shown[index + 1]
    const latest = next === undefined ? Math.max(segment.to, now) : segment.to
    const wait = next === undefined && hasGap ? Math.max(...ends) : (ends[index] ?? 0)
    // A wait takes at most half of the segment, unless there is nothing else in it.
    const longest = segment.from === latest && hasGap ? HOUR_MS : Math.max(latest - segment.from, MIN_SEGMENT_MS)
    const limit = next === undefined || next.from < latest ? Number.POSITIVE_INFINITY : next.from
    const to = Math.max(latest, Math.min(wait, latest + longest, limit))
    return { ...segment, to: Math.max(to, segment.from + MIN_SEGMENT_MS) }
  })
  const width = (1 - BREAK_WIDTH * (segments.length - 1)) / segments.length
  const shareAt = (index: number, at: number) => {
    const { from, to } = segments[index] ?? { from: 0, to: 1 }
    return index * (width + BREAK_WIDTH) + width * Math.max(0, Math.min(1, (at - from) / (to - from)))
  }
  return {
    segments,
    hidden: all.filter(({ id }) => id < first).length,
    // The page may read the clock before the newest request.
    now: shareAt(segments.length - 1, hasGap ? now : Math.max(now, shown.at(-1)?.to ?? 0)),
    place({ id, at }) {
      const index = indexOf(id)
      return index === -1 ? undefined : shareAt(index, Date.parse(at))
    },
    placeEnd({ id }, until) {
      let index = Math.max(0, indexOf(id))
      for (let next = segments[index + 1]; next !== undefined; next = segments[index + 1]) {
        if (next.from > until || next.from < (segments[index]?.from ?? 0)) break
        index++
      }
      return shareAt(index, until)
    },
  }
}

/** Whether the clock was moved in a step, back or by more than a segment has at least. */
function isJump(step: number, jump: number): boolean {
  return step < -TOLERANCE_MS || jump > MIN_SEGMENT_MS
}

/** A frozen clock moves by whole seconds; of another, the real time that passed is no part of the move. */
function jumpOf(step: number, passed: number): number {
  const real = Math.max(0, passed)
  if (Math.abs(step - real) <= TOLERANCE_MS) return 0
  return step % SECOND_MS === 0 ? step : step - real
}

function movedText(by: number): string {
  return `${by < 0 ? '−' : '+'}${roundText(Math.abs(by))}`
}

const UNITS = [
  [2 * DAY_MS, DAY_MS, 'd'],
  [0.99 * HOUR_MS, HOUR_MS, 'h'],
  [0.99 * MINUTE_MS, MINUTE_MS, 'min'],
  [0, SECOND_MS, 's'],
] as const

function roundText(span: number): string {
  const [, length, unit] = UNITS.find(([least]) => span >= least) ?? UNITS[3]
  return `${Math.round(span / length).toLocaleString('en')} ${unit}`
}
