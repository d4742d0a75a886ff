import type { Mistake } from './validator.js'

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

const sized =
  (least: string, unit: string): Sentence =>
  ({ limit }) =>
    `must have at ${least} ${limit} ${Number(limit) === 1 ? unit : `${unit}s`.replace('ys', 'ies')}`
const compared =
  (words: string): Sentence =>
  ({ limit }) =>
    `must be ${words} ${limit}`

const TYPES: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

const MAX_CHOICES = 30

/** By keyword, for people. Other keywords have the words of ajv. */
const SENTENCES: Readonly<Record<string, Sentence>> = {
  type: ({ type }) =>
    `must be ${[type]
      .flat()
      .map((name) => TYPES[`${name}`] ?? name)
      .join(' or ')}`,
  enum({ allowedValues }) {
    const all = [allowedValues].flat().map(String)
    return `must be one of ${all.slice(0, MAX_CHOICES).join(', ')}${all.length > MAX_CHOICES ? ', …' : ''}`
  },
  format: ({ format }) => `must be ${FORMAT_WORDS[`${format}`]}`,
  pattern: ({ pattern }) => `must match the pattern ${pattern}`,
  const: ({ allowedValue, allowedValues = allowedValue }) => `must be ${allowedValues}`,
  minLength: sized('least', 'character'),
  maxLength: sized('most', 'character'),
  minItems: sized('least', 'item'),
  maxItems: sized('most', 'item'),
  // Of a tuple.
  items: sized('most', 'item'),
  unevaluatedItems: sized('most', 'item'),
  minProperties: sized('least', 'property'),
  maxProperties: sized('most', 'property'),
  minimum: compared('at least'),
  maximum: compared('at most'),
  exclusiveMinimum: compared('greater than'),
  exclusiveMaximum: compared('less than'),
  uniqueItems: () => 'must not have an item twice',
  not: () => 'is not allowed',
  'false schema': () => 'is not allowed',
  anyOf: () => 'must match one of the alternatives',
  oneOf: () => 'must match exactly one of the alternatives',
}

/** Keywords of ours, and those of JSON Schema that they stand for. */
const STANDS_FOR: Readonly<Record<string, string>> = { oneOfValues: 'enum', constantValue: 'const' }

/** Of several mistakes of a value, these say most. */
const SAYS_MOST = /^(?:format|enum|const)$/

/** In our words, such as `must have at least 3 characters`; for each value the one that says most. */
export function wordedMistakes(mistakes: readonly Mistake[]): readonly Mistake[] {
  const all: Mistake[] = []
  const places = new Map<string, number>()
  for (const mistake of mistakes) {
    // After those of the `then` or `else` that it names.
    if (mistake.keyword === 'if' && all.length > 0) continue
    const keyword = STANDS_FOR[mistake.keyword] ?? mistake.keyword
    const message = SENTENCES[keyword]?.(mistake.params) ?? mistake.message
    const { unevaluatedProperty: name } = mistake.params
    const params = name === undefined ? mistake.params : { ...mistake.params, additionalProperty: name }
    const worded = { ...mistake, params, keyword, ...(message !== undefined && { message }) }
    const place = places.get(mistake.instancePath) ?? all.length
    const known = all[place]
    // An alternative to null says more than that null is possible.
    const isBetter = SAYS_MOST.test(keyword) || (known?.keyword === 'type' && known.params.type === 'null')
    if (/^(?:required|additionalProperties|unevaluatedProperties)$/.test(keyword)) all.push(worded)
    else if (known === undefined || isBetter) {
      all[place] = worded
      places.set(mistake.instancePath, place)
    }
  }
  return all
}
