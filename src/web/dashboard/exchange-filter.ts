import type { Exchange } from '../../exchanges/exchange-view.js'
import { type Outcome, outcomeOf } from '../format.js'
import { addressOf } from '../request-code.js'

export interface ExchangeFilter {
  /** Words that must all match: `status:429 4xx -key:sandbox-pro op:listPets path:/pets >500ms body:Rex reason:storm`. */
  readonly text: string
  readonly outcome: Outcome | undefined
}

export const EVERYTHING: ExchangeFilter = { text: '', outcome: undefined }

type Test = (exchange: Exchange) => boolean

/** Tests by the word before the colon. */
const FIELDS: Readonly<Record<string, (exchange: Exchange, wanted: string) => boolean>> = {
  status: ({ status, ended }, wanted) =>
    CLASS.test(wanted) ? isOfClass(status, wanted) : ended !== null && String(status ?? 'none') === wanted,
  key: ({ key }, wanted) => key.toLowerCase() === wanted,
  op: ({ operation }, wanted) => (operation ?? 'none').toLowerCase() === wanted,
  path: (exchange, wanted) => addressOf(exchange).toLowerCase().includes(wanted),
  method: ({ method }, wanted) => method.toLowerCase() === wanted,
  reason: ({ reason }, wanted) => (reason ?? 'none').startsWith(wanted),
  fault: ({ fault }, wanted) => (fault ?? 'none') === wanted,
  ended: ({ ended }, wanted) => (ended ?? 'running') === wanted,
  at: ({ at }, wanted) => isWithin(at, wanted),
  drift: ({ drift = [] }, wanted) =>
    wanted === 'no'
      ? drift.length === 0
      : drift.some((detail) => wanted === 'yes' || detail.toLowerCase().includes(wanted)),
  body: ({ request, response }, wanted) =>
    request.body.toLowerCase().includes(wanted) || response.body.toLowerCase().includes(wanted),
  id: ({ id }, wanted) => wanted.split(',').includes(String(id)),
}

export const FILTER_FIELDS: readonly string[] = Object.keys(FIELDS)

/** `2026-03-01t12:00:10..12:00:20`; both days may be omitted. The end is exclusive. */
const RANGE = /^(?:(\d{4}-\d{2}-\d{2})t)?(.+?)\.\.(?:(\d{4}-\d{2}-\d{2})t)?(.+)$/

/** @param wanted a range, or the beginning of an instant: `12:00`, `2026-03-01t12`; in UTC */
function isWithin(at: string, wanted: string): boolean {
  const [day = '', time = ''] = at.toLowerCase().split('t')
  const [, firstDay, from, lastDay, to] = RANGE.exec(wanted) ?? []
  if (from === undefined || to === undefined) return time.startsWith(wanted) || at.toLowerCase().startsWith(wanted)
  if (firstDay === undefined) return from <= time && time < to
  const instant = `${day}t${time}`
  return `${firstDay}t${from}` <= instant && instant < `${lastDay ?? firstDay}t${to}`
}

/** @param from, to milliseconds since the epoch */
export function rangeWord(from: number, to: number): string {
  const [first = '', last = ''] = [from, to].map((at) => new Date(at).toISOString().slice(0, 19))
  return `at:${first}..${last.slice(0, 10) === first.slice(0, 10) ? last.slice(11) : last}`
}

const CLASS = /^[1-5]xx$/
const WORD = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi
const DURATION = /^([<>])(\d+(?:\.\d+)?)(ms|s|min)$/
const UNITS = { ms: 1, s: 1000, min: 60_000 } as const

export function filterExchanges(exchanges: readonly Exchange[], filter: ExchangeFilter): readonly Exchange[] {
  const tests = [...filter.text.matchAll(WORD)].map(testOf)
  if (tests.length === 0 && filter.outcome === undefined) return exchanges
  return exchanges.filter(
    (exchange) =>
      (filter.outcome === undefined || (exchange.ended !== null && outcomeOf(exchange) === filter.outcome)) &&
      tests.every((test) => test(exchange)),
  )
}

function testOf([whole, minus, field = '', quoted, plain = '']: RegExpExecArray): Test {
  const look = Object.hasOwn(FIELDS, field.toLowerCase()) ? FIELDS[field.toLowerCase()] : undefined
  const wanted = (quoted ?? plain).toLowerCase()
  const test: Test =
    look === undefined ? wordTest(minus === '-' ? whole.slice(1) : whole) : (exchange) => look(exchange, wanted)
  return minus === '-' ? (exchange) => !test(exchange) : test
}

function wordTest(written: string): Test {
  const word = written.toLowerCase().replaceAll('"', '')
  if (CLASS.test(word)) return ({ status }) => isOfClass(status, word)
  const [, than, count, unit] = DURATION.exec(word) ?? []
  if (than !== undefined) {
    const limit = Number(count) * UNITS[unit as keyof typeof UNITS]
    return ({ durationMs }) => (than === '>' ? durationMs > limit : durationMs < limit)
  }
  return ({ method, path, query, operation, status, reason, fault, key }) => {
    const facts = [method, addressOf({ path, query }), operation, status, reason, fault, key]
    return facts.join(' ').toLowerCase().includes(word)
  }
}

function isOfClass(status: number | null, wanted: string): boolean {
  return status !== null && String(status).charAt(0) === wanted.charAt(0)
}

export function toggleWord(text: string, word: string): string {
  const words = [...text.matchAll(WORD)].map(([whole]) => whole)
  return (words.includes(word) ? words.filter((other) => other !== word) : [...words, word]).join(' ')
}

/** Quotes values with blanks. */
export function wordOf(field: string, value: string): string {
  return /\s/.test(value) ? `${field}:"${value.replaceAll('"', '')}"` : `${field}:${value}`
}

const MAX_VALUES = 4

/** The most frequent values of each field, with the number of exchanges that each would leave. */
export function facetsOf(exchanges: readonly Exchange[]) {
  const fields = {
    op: ({ operation }: Exchange) => operation ?? 'none',
    key: ({ key }: Exchange) => key,
    reason: ({ reason }: Exchange) => reason ?? undefined,
    drift: ({ drift }: Exchange) => (drift === undefined ? undefined : 'yes'),
    ended: ({ ended }: Exchange) => (ended === 'sent' ? undefined : (ended ?? 'running')),
  }
  return Object.entries(fields).flatMap(([field, read]) => {
    const counts = new Map<string, number>()
    for (const exchange of exchanges) {
      const value = read(exchange)
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    const narrows = counts.size > 1 || (counts.size === 1 && ![...counts.values()].includes(exchanges.length))
    if (!narrows) return []
    return [...counts]
      .sort(([, one], [, other]) => other - one)
      .slice(0, MAX_VALUES)
      .map(([value, count]) => ({ word: wordOf(field, value), value, count }))
  })
}
