import { signal } from '@preact/signals'
import { OUTCOMES, type Outcome } from '../exchanges/traffic.js'

export { OUTCOMES, type Outcome, outcomeOf } from '../exchanges/traffic.js'

/** Of every time on the page. */
export const zone = signal<'UTC' | 'local'>('UTC')

function isoInZone(at: number): string {
  return new Date(zone.value === 'UTC' ? at : at - new Date(at).getTimezoneOffset() * 60_000).toISOString()
}

/** `12:00:01`, or with milliseconds */
export function timeText(at: number, withMilliseconds = false): string {
  return isoInZone(at).slice(11, withMilliseconds ? 23 : 19)
}

/** `12:00:01 UTC`, with the day if it is another than that of `now` */
export function instantText(at: number, now: number): string {
  const day = dayText(at) === dayText(now) ? '' : `${dateText(at)} `
  return `${day}${timeText(at)}${zone.value === 'UTC' ? ' UTC' : ''}`
}

/** Shows the instants in a text of the sandbox, which are in UTC, in the zone of the page. */
export function inZone(text: string, now: number): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (instant) => instantText(Date.parse(instant), now))
}

/** `Sun, 1 Mar 2026` */
export function dateText(at: number): string {
  const [weekday, day, month, year] = new Date(isoInZone(at)).toUTCString().split(' ')
  return `${weekday} ${Number(day)} ${month} ${year}`
}

export function dayText(at: number): string {
  return isoInZone(at).slice(0, 10)
}

/** Time left: `0:42`, `4:05`, `1:00:00`, `2 d 3 h`. Rounded up. */
export function countdownText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  const hours = Math.floor(seconds / 3600)
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`
  const minutes = Math.floor(seconds / 60) % 60
  const parts = hours === 0 ? [minutes, seconds % 60] : [hours, minutes, seconds % 60]
  return parts.map((part, index) => (index === 0 ? part : String(part).padStart(2, '0'))).join(':')
}

export function timesText(count: number): string {
  return count === 1 ? 'once' : `${count.toLocaleString('en')} times`
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
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

/** A token of JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g

/** Indents JSON; leaves other text unchanged. Only changes whitespace: 1.0, repeated names and all digits stay. */
export function readableBody(body: string): string {
  try {
    JSON.parse(body)
  } catch {
    return body
  }
  let text = ''
  let depth = 0
  let before = ''
  for (const [token] of body.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']'
    const followsOpening = before === '{' || before === '['
    if (closes) depth--
    if (closes ? !followsOpening : followsOpening || before === ',') text += `\n${'  '.repeat(depth)}`
    text += token === ':' ? ': ' : token
    if (token === '{' || token === '[') depth++
    before = token
  }
  return text
}
