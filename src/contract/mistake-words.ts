import type { Mistake } from './validator.js'

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

export const FORMAT_WORDS: Readonly<Record<string, string>> = {
  byte: 'a text in Base64',
  date: 'a date such as 2026-01-31',
  'date-time': 'a date with time such as 2026-01-31T12:00:00Z',
  'local-date-time': 'a date with time such as 2026-01-31T12:00:00',
  email: 'an email address such as user@example.com',
  uri: 'a URI such as https://example.com/',
  uuid: 'a UUID such as 3be6453c-03eb-4357-ae5a-984a0e574a54',
}

type Sentence = (params: Mistake['params']) => string

const MAX_CHOICES = 30

const oneOf: Sentence = ({ allowedValues }) => {
  const all = [allowedValues].flat()
  return `must be one of ${all.slice(0, MAX_CHOICES).map(String).join(', ')}${all.length > MAX_CHOICES ? ', …' : ''}`
}
const sized =
  (least: string, unit: string): Sentence =>
  ({ limit }) =>
    `must have at ${least} ${limit} ${unit}${Number(limit) === 1 ? '' : 's'}`
const compared =
  (words: string): Sentence =>
  ({ limit }) =>
    `must be ${words} ${limit}`

/** By keyword, for people. Other keywords have the words of ajv. */
const SENTENCES: Readonly<Record<string, Sentence>> = {
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => TYPES[`${name}`] ?? `${name}`)
      .join(' or ')}`,
  format: ({ format }) => `must be ${FORMAT_WORDS[`${format}`]}`,
  pattern: ({ pattern }) => `must match the pattern ${pattern}`,
  enum: oneOf,
  const: ({ allowedValue }) => `must be ${allowedValue}`,
  minLength: sized('least', 'character'),
  maxLength: sized('most', 'character'),
  minItems: sized('least', 'item'),
  maxItems: sized('most', 'item'),
  minimum: compared('at least'),
  maximum: compared('at most'),
  exclusiveMinimum: compared('greater than'),
  exclusiveMaximum: compared('less than'),
  uniqueItems: () => 'must not have an item twice',
}

/** Keywords of ours, and those of JSON Schema that they stand for. */
const STANDS_FOR: Readonly<Record<string, string>> = { oneOfValues: 'enum', constantValue: 'const' }

export function ruleOf({ keyword }: Pick<Mistake, 'keyword'>): string {
  return STANDS_FOR[keyword] ?? keyword
}

/** What a mistake says of a value: `must be one of red, black`. */
export function sentenceOf(mistake: Mistake): string {
  return SENTENCES[ruleOf(mistake)]?.(mistake.params) ?? mistake.message ?? 'is not valid'
}
