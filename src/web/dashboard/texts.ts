import { counted } from '../../domain/numbers.js'
import { OUTCOMES, type Outcome } from '../../exchanges/outcome.js'
import { endText, isoInZone, zone } from '../format.js'

export { OUTCOMES, type Outcome, outcomeOf } from '../../exchanges/outcome.js'

/** `1,000 requests` */
export function countText(count: number, value: string): string {
  return counted(count, value).replace(String(count), count.toLocaleString('en'))
}

/** `18–20, 22`, and `…` for what is beyond three ranges. @param ids ascending */
export function idsText(ids: readonly number[]): string {
  const ranges: number[][] = []
  for (const id of ids) {
    if (ranges.at(-1)?.at(-1) === id - 1) ranges.at(-1)?.push(id)
    else ranges.push([id])
  }
  const texts = ranges.map(([first, ...rest]) => (rest.length === 0 ? `${first}` : `${first}–${rest.at(-1)}`))
  return texts.length <= 3 ? texts.join(', ') : `${texts.slice(0, 3).join(', ')} …`
}

/** As a time is shown that is no end. */
export function wholeSecond(at: number): number {
  return Math.floor(at / 1000) * 1000
}

/** `12:00:01 UTC`, rounded up, with the date unless it is the day of `now` */
export function instantText(at: number, now: number): string {
  const day = dayText(at) === dayText(now) ? '' : `${dateText(at)} `
  return `${day}${endText(at)}${zone.value === 'UTC' ? ' UTC' : ''}`
}

/** Shows the instants in a text of the sandbox, which are in UTC, in the zone of the page. Only ends are rounded up. */
export function inZone(text: string, now: number): string {
  return text.replaceAll(/(until )?(\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_, until = '', instant) => {
    const at = Date.parse(instant)
    return until + instantText(until === '' ? wholeSecond(at) : at, now)
  })
}

/** `Sun, 1 Mar 2026` */
export function dateText(at: number): string {
  return dayTitle(dayText(at))
}

export function dayText(at: number): string {
  return isoInZone(at).slice(0, 10)
}

/** @param day `2026-03-01`, in the zone of the page */
export function dayTitle(day: string): string {
  const [weekday, date, month, year] = new Date(`${day}T00:00:00Z`).toUTCString().split(' ')
  return `${weekday} ${Number(date)} ${month} ${year}`
}

export const OUTCOME_LABELS = {
  answered: '2xx',
  refused: '4xx',
  limited: '429',
  failed: '5xx',
  cut: 'cut off',
} as const satisfies Record<Outcome, string>
export type OutcomeCounts = Readonly<Record<Outcome, number>>
export const NO_OUTCOMES: OutcomeCounts = { answered: 0, refused: 0, limited: 0, failed: 0, cut: 0 }

export function outcomesText(counts: OutcomeCounts): string {
  return OUTCOMES.filter((outcome) => counts[outcome] > 0)
    .map((outcome) => `${counts[outcome]} ${OUTCOME_LABELS[outcome]}`)
    .join(', ')
}
