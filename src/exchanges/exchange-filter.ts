import { addressOf } from '../domain/space-address.js'
import { didYouMean } from '../domain/suggest.js'
import { clientName, clientOf } from './client-name.js'
import type { Exchange } from './exchange-record.js'
import { outcomeOf } from './outcome.js'

// A filter is a text: words that must all match, such as
// `status:429 4xx -key:sandbox-pro op:listPets path:/pets >500ms body:Rex reason:storm outcome:cut`.

type Test = (exchange: Exchange) => boolean

/** Tests by the word before the colon. */
const FIELDS: Readonly<Record<string, (exchange: Exchange, wanted: string) => boolean>> = {
  status: ({ status, ended }, wanted) =>
    CLASS.test(wanted) ? isOfClass(status, wanted) : ended !== null && String(status ?? 'none') === wanted,
  outcome: (exchange, wanted) => exchange.ended !== null && outcomeOf(exchange) === wanted,
  key: ({ key }, wanted) => key.toLowerCase() === wanted,
  client: (exchange, wanted) =>
    [clientOf(exchange), clientName(exchange)].some((name) => name.toLowerCase() === wanted),
  op: ({ operation }, wanted) => (operation ?? 'none').toLowerCase() === wanted,
  path: (exchange, wanted) => addressOf(exchange).toLowerCase().includes(wanted),
  method: ({ method }, wanted) => method.toLowerCase() === wanted,
  reason: ({ reason }, wanted) => (reason ?? 'none').startsWith(wanted),
  // A word in quotes has none inside.
  rule: ({ rule = 'none' }, wanted) => rule.toLowerCase().replaceAll('"', '') === wanted.replaceAll('"', ''),
  fault: ({ fault }, wanted) => (fault ?? 'none') === wanted,
  ended: ({ ended }, wanted) => (ended ?? 'running') === wanted,
  at: ({ at }, wanted) => isWithin(at, wanted),
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

const CLASS = /^[1-5]xx$/
const WORD = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi
const DURATION = /^([<>])(\d+(?:\.\d+)?)(ms|s|min)$/
const UNITS = { ms: 1, s: 1000, min: 60_000 } as const

type DurationOf = (exchange: Exchange) => number

const wholeDuration: DurationOf = ({ durationMs }) => durationMs

/** @param durationOf milliseconds so far */
export function filterExchanges(
  exchanges: readonly Exchange[],
  filter: string,
  durationOf = wholeDuration,
): readonly Exchange[] {
  const test = filterTest(filter, durationOf)
  return test === undefined ? exchanges : exchanges.filter(test)
}

/** @returns undefined for a filter that all exchanges match */
export function filterTest(filter: string, durationOf = wholeDuration): Test | undefined {
  const tests = [...filter.matchAll(WORD)].map((word) => testOf(word, durationOf))
  return tests.length === 0 ? undefined : (exchange) => tests.every((test) => test(exchange))
}

export function wordsOf(filter: string): readonly string[] {
  return [...filter.matchAll(WORD)].map(([whole]) => whole)
}

/** The first word that is searched as text although it looks like a field or a duration, and what may be meant. */
export function unknownTerm(filter: string): { readonly word: string; readonly meant: string | undefined } | undefined {
  for (const [word, , field, , plain = ''] of filter.matchAll(WORD)) {
    if (/^[<>]\d+(?:\.\d+)?$/.test(word)) return { word, meant: `${word}ms` }
    if (field === undefined || Object.hasOwn(FIELDS, field.toLowerCase()) || plain.startsWith('//')) continue
    const [, name] = /did you mean (.*)\?$/.exec(didYouMean(field, FILTER_FIELDS)) ?? []
    return { word, meant: name && word.replace(field, name) }
  }
  return undefined
}

function testOf([whole, minus, field = '', quoted, plain = '']: RegExpExecArray, durationOf: DurationOf): Test {
  const look = Object.hasOwn(FIELDS, field.toLowerCase()) ? FIELDS[field.toLowerCase()] : undefined
  const wanted = (quoted ?? plain).toLowerCase()
  const test: Test =
    look === undefined
      ? wordTest(minus === '-' ? whole.slice(1) : whole, durationOf)
      : (exchange) => look(exchange, wanted)
  return minus === '-' ? (exchange) => !test(exchange) : test
}

function wordTest(written: string, durationOf: DurationOf): Test {
  const word = written.toLowerCase().replaceAll('"', '')
  if (CLASS.test(word)) return ({ status }) => isOfClass(status, word)
  const [, than, count, unit] = DURATION.exec(word) ?? []
  if (than !== undefined) {
    const limit = Number(count) * UNITS[unit as keyof typeof UNITS]
    return (exchange) => (than === '>' ? durationOf(exchange) > limit : durationOf(exchange) < limit)
  }
  return ({ method, path, query, operation, status, reason, fault, key }) => {
    const facts = [method, addressOf({ path, query }), operation, status, reason, fault, key]
    return facts.join(' ').toLowerCase().includes(word)
  }
}

function isOfClass(status: number | null, wanted: string): boolean {
  return status !== null && String(status).charAt(0) === wanted.charAt(0)
}

/** Quotes values with blanks. */
export function wordOf(field: string, value: string): string {
  return /\s/.test(value) ? `${field}:"${value.replaceAll('"', '')}"` : `${field}:${value}`
}
