import type { Node } from './document.js'
import { MAX_MADE } from './json-schema.js'
import { patternText, usualText } from './pattern-text.js'

/** A source of numbers from 0 to 1. */
export interface Chance {
  next(): number
}

/** Values that differ from record to record. */
export interface Drawing extends Chance {
  /** The number of the record, from 0; in lists, that of the item. */
  index: number
}

const WORDS =
  'amber birch cedar coral delta ember fjord grove harbor iris jasper kestrel larch maple nova opal pine quartz raven sage tidal umber velvet willow zephyr'.split(
    ' ',
  )
/** 2026-01-01, midnight UTC. Generated records are created from here on, a minute apart; their other times are earlier. */
export const GENERATED_FROM = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000
/** Larger than any bound that a schema leaves open. */
const OPEN_RANGE = 1000
/** A quarter of a year, in minutes: drawn instants are that much earlier at most. */
const RECENT = 90 * 24 * 60

/** A whole number from 0, below the count; without chance, 0. */
function draw(chance: Chance | undefined, count: number): number {
  return chance === undefined ? 0 : Math.floor(chance.next() * count)
}

export function pick<T>(list: readonly T[], chance: Chance | undefined): T | undefined {
  return list[draw(chance, list.length)]
}

/**
 * The simplest value of a type, or one that is drawn; undefined if none is known.
 * @param isFull whether a text has something in it that need not be there
 */
export function makeScalar(type: string | undefined, rules: Node, isFull: boolean, drawing?: Drawing): unknown {
  if (type === 'boolean') return draw(drawing, 2) === 1
  if (type === 'integer' || type === 'number') return numberOf(rules, type === 'integer', drawing)
  return type === 'string' ? textOf(rules, isFull, drawing) : undefined
}

function numberOf(rules: Node, isWhole: boolean, chance: Chance | undefined): number | bigint {
  const { minimum, exclusiveMinimum } = rules
  // Beyond 2^53.
  if (typeof minimum === 'bigint') return minimum
  if (typeof exclusiveMinimum === 'bigint') return exclusiveMinimum + 1n
  const number = (key: string) => (typeof rules[key] === 'number' ? rules[key] : undefined)
  const open = chance === undefined ? 0 : 1
  const step = number('multipleOf') ?? (isWhole ? 1 : 0.01)
  const bounds = (inclusive: string, exclusive: string, inwards: number) => {
    const excluded = number(exclusive)
    return [number(inclusive), excluded === undefined ? undefined : excluded + inwards].filter(
      (bound) => bound !== undefined,
    )
  }
  const lows = bounds('minimum', 'exclusiveMinimum', step)
  const highs = bounds('maximum', 'exclusiveMaximum', -step)
  const least = lows.length === 0 ? undefined : Math.max(...lows)
  const most = highs.length === 0 ? undefined : Math.min(...highs)
  // A range without a step in it.
  if (!isWhole && least !== undefined && most !== undefined && least > most && number('multipleOf') === undefined)
    return Number(((least + most) / 2).toPrecision(10))
  const low = Math.ceil((least ?? Math.min(open, most ?? open)) / step)
  const high = Math.floor((most ?? (low + OPEN_RANGE) * step) / step)
  const steps = low + draw(chance, Math.min(high, low + OPEN_RANGE / step) - low + 1)
  return step < 1 ? Number((steps * step).toFixed(10)) : steps * step
}

const STRINGS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'P1D',
  uuid: '00000000-0000-4000-8000-000000000000',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/',
  'iri-reference': '/',
  'uri-template': '/{id}',
  'json-pointer': '/a',
  'relative-json-pointer': '0',
  email: 'user@example.com',
  'idn-email': 'user@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  byte: 'AAAA',
}
/** For schemas with a small maxLength. */
const SHORT_STRINGS: Readonly<Record<string, string>> = {
  uri: 'a:b',
  url: 'a:b',
  email: 'a@b.c',
  hostname: 'a.b',
  ipv4: '1.1.1.1',
  ipv6: '::1',
}

const DRAWN: Readonly<Record<string, (word: string, index: number, chance: Chance) => string>> = {
  'date-time': (_word, _index, chance) => new Date(GENERATED_FROM - draw(chance, RECENT) * MINUTE_MS).toISOString(),
  date: (_word, _index, chance) =>
    new Date(GENERATED_FROM - draw(chance, RECENT) * MINUTE_MS).toISOString().slice(0, 10),
  uuid: (_word, _index, chance) => uuidFrom(chance),
  uri: (word, index) => `https://example.com/${word}/${index + 1}`,
  url: (word, index) => `https://example.com/${word}/${index + 1}`,
  email: (word, index) => `${word}${index + 1}@example.com`,
  hostname: (word, index) => `${word}${index + 1}.example.com`,
  ipv4: (_word, index) => `192.0.2.${index % 256}`,
  byte: (word) => btoa(word),
}

function textOf(rules: Node, isFull: boolean, drawing: Drawing | undefined): unknown {
  const { pattern, minLength, maxLength } = rules
  const format = `${rules.format}`
  if (typeof pattern === 'string')
    return drawing === undefined
      ? (patternText(pattern, rules) ?? usualText(pattern))
      : patterned(pattern, rules, drawing)
  if (Number(minLength) > MAX_MADE) return undefined
  const word = drawing === undefined ? '' : (pick(WORDS, drawing) ?? '')
  const usual = (drawing && DRAWN[format]?.(word, drawing.index, drawing)) ?? STRINGS[format]
  const known = usual !== undefined && usual.length > Number(maxLength) ? (SHORT_STRINGS[format] ?? usual) : usual
  const least = typeof minLength === 'number' ? minLength : 0
  if (known !== undefined) {
    if (/email$|hostname$/.test(format)) return known.padStart(least, 'x')
    if (format === 'byte') return known.padEnd(4 * Math.ceil(least / 4), 'A')
    return /^[ui]r[il]/.test(format) ? known.padEnd(least, 'x') : known
  }
  const text = drawing === undefined ? (isFull ? 'string' : '') : `${word} ${drawing.index + 1}`
  return text.padEnd(least, 'x').slice(0, typeof maxLength === 'number' ? maxLength : undefined)
}

/** Of patterns without a longest text, so that records differ. */
const USUAL_LENGTH = 6

function patterned(pattern: string, rules: Node, drawing: Drawing): unknown {
  const { example, examples, minLength = 0, maxLength } = rules
  const known = [example, ...(Array.isArray(examples) ? examples : [])].filter((item) => typeof item === 'string')
  if (known.length > 0 || rules.default !== undefined) return pick(known, drawing) ?? rules.default
  const choose = (count: number) => draw(drawing, count)
  const longer = { minLength: Math.max(Number(minLength), USUAL_LENGTH), maxLength }
  const isOpen = /[*+]|,\}/.test(pattern)
  const text = (isOpen ? patternText(pattern, longer, choose) : undefined) ?? patternText(pattern, rules, choose)
  return text || (usualText(pattern, [`${drawing.index + 1}.50`]) ?? '')
}

/** A UUID (version 4, RFC 9562). */
export function uuidFrom(chance: Chance): string {
  const hex = Array.from({ length: 32 }, () => draw(chance, 16).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-a$4-$5')
}
