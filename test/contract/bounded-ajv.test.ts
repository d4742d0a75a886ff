import { describe, expect, it } from 'vitest'
import { createAjv } from '../../src/contract/ajv.js'
import { boundedCompiler } from '../../src/contract/bounded-ajv.js'
import type { JsonSchema } from '../../src/contract/json-schema.js'
import { linearPattern } from '../../src/contract/linear-pattern.js'
import { randomStream } from '../../src/domain/random.js'
import fc from '../support/fast-check.js'
import { runs } from '../support/test-seed.js'

const compile = boundedCompiler({ find: linearPattern, maxErrors: 100 })

function errorsOf(schema: JsonSchema, value: unknown): readonly string[] | true {
  const validator = compile(schema, false)
  if (validator(value) === true) return true
  return (validator.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

const NAMES = ['a', 'b', 'c']

/** Without `unevaluated…`, of which ajv has wrong verdicts. Random schemas that apply schemas in every way, some of them to themselves, and values that they are about. */
function randomCase(seed: number): { readonly schema: JsonSchema; readonly value: unknown } {
  const chance = randomStream(String(seed))
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance.next() * list.length)] as T
  const some = <T>(make: () => T) => Array.from({ length: 1 + Math.floor(chance.next() * 2) }, make)
  const map = (names: readonly string[], make: () => unknown) => Object.fromEntries(some(() => [pick(names), make()]))
  const keywords: Readonly<Record<string, (inner: () => JsonSchema) => unknown>> = {
    type: () => pick(['object', 'array', 'string', ['object', 'array']]),
    required: () => [pick(NAMES)],
    enum: () => [makeValue(2), makeValue(1), {}],
    maxLength: () => 2,
    minProperties: () => 1,
    uniqueItems: () => true,
    dependentRequired: () => ({ [pick(NAMES)]: [pick(NAMES)] }),
    properties: (inner) => map(NAMES, inner),
    patternProperties: (inner) => map(['^a', 'c$'], inner),
    dependentSchemas: (inner) => map(NAMES, inner),
    prefixItems: (inner) => some(inner),
    allOf: (inner) => some(inner),
    anyOf: (inner) => some(inner),
    oneOf: (inner) => some(inner),
    ...Object.fromEntries(
      'additionalProperties propertyNames items contains not if then else'
        .split(' ')
        .map((name) => [name, (inner: () => JsonSchema) => inner()]),
    ),
  }
  const makeSchema = (depth: number): JsonSchema => {
    if (chance.next() < 0.1) return chance.next() < 0.7
    if (chance.next() < 0.3) return { $ref: `#/$defs/${pick(NAMES)}` }
    const names = some(() => pick(Object.keys(keywords)))
    return Object.fromEntries(
      names.map((name) => [name, keywords[name]?.(() => (depth > 3 ? true : makeSchema(depth + 1)))]),
    )
  }
  const makeValue = (depth: number): unknown => {
    const kind = depth > 4 ? 0 : chance.next()
    if (kind < 0.3) return pick(['', 'a', 'long text', null, 1, true])
    return kind < 0.6 ? some(() => makeValue(depth + 1)) : map([...NAMES, 'ac'], () => makeValue(depth + 1))
  }
  // Through an item or a property: a schema that consists of itself never ends.
  const definition = () => ({ items: makeSchema(0), properties: { a: makeSchema(0) } })
  const $defs = Object.fromEntries(NAMES.map((name) => [name, definition()]))
  return { schema: { allOf: [makeSchema(0), makeSchema(0)], $defs }, value: makeValue(0) }
}

describe('a bounded validation', () => {
  it('has the verdict of ajv', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const { schema, value } = randomCase(seed)
        const ajv = createAjv({})
        ajv.opts.unevaluated = false
        const expected = ajv.compile(Object(structuredClone(schema)))(value)
        expect(errorsOf(schema, value) === true).toBe(expected)
      }),
      { numRuns: runs(500) },
    )
  })

  const folder = (keyword: 'anyOf' | 'oneOf', required: readonly string[]): JsonSchema => {
    const kids = { type: 'array', items: { $ref: '#/$defs/node' } }
    const alternatives = required.map((name) => ({ type: 'object', required: [name], properties: { kids } }))
    return { $ref: '#/$defs/node', $defs: { node: { [keyword]: alternatives } } }
  }
  const nested = (levels: number, fields: object) =>
    Array.from({ length: levels }).reduce<object>((inner) => ({ ...fields, kids: [inner] }), fields)

  it.each(['anyOf', 'oneOf'] as const)(
    'of nested alternatives of %s takes steps for each level, not for each way',
    (keyword) => {
      expect(errorsOf(folder(keyword, ['x', 'y']), nested(199, { x: 1 }))).toBe(true)
      expect(errorsOf(folder(keyword, ['x', 'y']), nested(199, {}))).toContain(" must have required property 'x'")
    },
  )

  it('names every mistake of an ordinary value', () => {
    const schema = { type: 'object', required: ['a', 'b'], properties: { c: { type: 'string' } } }
    expect(errorsOf(schema, { c: 1 })).toEqual([
      " must have required property 'a'",
      " must have required property 'b'",
      '/c must be a string',
    ])
  })

  it('reports a list that contains nothing suitable once, whatever its items lack', () => {
    expect(errorsOf({ contains: { required: names(90) } }, objects)).toEqual([' must contain at least 1 valid item(s)'])
  })

  it('reports names that a property depends on once', () => {
    expect(errorsOf({ dependentRequired: { a: names(5000) } }, { a: 1 })).toEqual([
      ' must have the properties that others depend on',
    ])
  })

  it.each(['constructor', 'toString', '__proto__'])('takes the property %s only from the value itself', (name) => {
    expect(errorsOf({ properties: { [name]: { type: 'string' } } }, {})).toBe(true)
    expect(errorsOf({ required: [name] }, {})).toEqual([` must have required property '${name}'`])
    expect(errorsOf({ dependentRequired: { [name]: ['a'] } }, {})).toBe(true)
  })

  it('knows that contains evaluates all items', () => {
    const schema = { $ref: '#/$defs/a', unevaluatedItems: false, $defs: { a: { contains: { type: 'string' } } } }
    expect(errorsOf(schema, ['a', 'b'])).toBe(true)
  })

  it('ends with about 100 mistakes', () => {
    const schema = { type: 'array', items: { type: 'object', required: ['a', 'b', 'c', 'd'] } }
    expect(
      errorsOf(
        schema,
        Array.from({ length: 100_000 }, () => ({})),
      ),
    ).toHaveLength(100)
  })

  const names = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`)
  const numbers = Array.from({ length: 100_000 }, (_, index) => index)
  const objects = numbers.slice(0, 60_000).map((a) => ({ a }))

  it.each<[string, JsonSchema, unknown]>([
    ['unique numbers', { uniqueItems: true }, numbers],
    ['unique objects', { uniqueItems: true }, objects],
    ['one of 2,000 objects', { items: { enum: numbers.slice(0, 2000).map((a) => ({ a })) } }, objects.slice(0, 2000)],
    [
      'one of 2,000 alternatives',
      { oneOf: names(2000).map((name) => ({ required: [name], properties: { [name]: { type: 'string' } } })) },
      { k1999: 'a' },
    ],
    ['any of 2,000 alternatives', { anyOf: numbers.slice(0, 2000).map((n) => ({ minimum: n, maximum: n })) }, 1999],
    [
      'long texts that differ at their end',
      { items: { enum: numbers.slice(0, 2000).map((n) => 'a'.repeat(300) + n) } },
      numbers.slice(0, 2000).map((n) => 'a'.repeat(300) + n),
    ],
    ['empty objects', { items: { type: 'object', required: [] } }, objects.map(() => ({}))],
  ])('is not ended by the size of an ordinary value: %s', (_what, schema, value) => {
    expect(errorsOf(schema, value)).toBe(true)
  })

  it.each<[string, JsonSchema, unknown]>([
    [
      'one of 100 alternatives',
      { items: { oneOf: numbers.slice(0, 100).map((n) => ({ required: [`k${n}`] })) } },
      objects.map(() => ({ k99: 1 })),
    ],
    ['a pattern with large counts', { pattern: '^((a{1,100}){1,10}b?)*$' }, 'a'.repeat(900_000)],
    [
      'names that are matched',
      { patternProperties: Object.fromEntries(numbers.slice(0, 100).map((n) => [`^${n}x`, {}])) },
      Object.fromEntries(objects.map(({ a }) => [`n${a}`, 1])),
    ],
    [
      'errors of alternatives',
      { items: { anyOf: [{ required: names(5000) }, { type: 'object' }] } },
      objects.map(() => ({})),
    ],
    [
      'errors of alternatives with schemas in them',
      { items: { oneOf: [{ required: names(5000), properties: { a: true } }, { properties: { b: true } }] } },
      objects.map(() => ({})),
    ],
    ['items that might be contained', { items: { contains: false } }, [numbers, numbers, numbers]],
    ['exact fractions', { items: { multipleOf: 0.01 } }, objects.map(() => 1e300)],
  ])('ends after its last step: %s', (_what, schema, value) => {
    expect(errorsOf(schema, value)).toEqual([' needs more than 1000000 checks'])
  })

  it.each<[string, JsonSchema]>([
    ['a reference', { $ref: '#/$defs/b' }],
    ['one of two references', { oneOf: [{ $ref: '#/$defs/none' }, { $ref: '#/$defs/b' }] }],
    ['alternatives', { anyOf: [{ required: ['c'], properties: { c: true } }, { allOf: [{ $ref: '#/$defs/b' }] }] }],
    ['a condition', JSON.parse('{"if":{"required":["a"]},"then":{"$ref":"#/$defs/b"}}')],
    ['a schema for a property', { dependentSchemas: { a: { $ref: '#/$defs/b' } } }],
  ])('knows which properties are evaluated by %s', (_what, part) => {
    const $defs = { b: { properties: { b: { type: 'integer' } } }, none: { required: ['z'], properties: { z: true } } }
    const schema = { properties: { a: true }, ...Object(part), unevaluatedProperties: false, $defs }
    expect(errorsOf(schema, { a: 1, b: 1 })).toBe(true)
    expect(errorsOf(schema, { a: 1, b: 1, z2: 1 })).toContain(' must NOT have unevaluated properties')
  })

  it('tells equal items by their value', () => {
    const unique = (...items: unknown[]) => errorsOf({ uniqueItems: true }, items) === true
    expect(unique({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(false)
    expect(unique('1', 1, true, 'true', null, 'null', '{"a":1}', { a: 1 })).toBe(true)
    expect(unique(2n ** 60n, 2n ** 60n)).toBe(false)
    expect(unique({ a: 2n ** 60n }, { a: `${2n ** 60n}` })).toBe(true)
  })

  it('compiles a chain of 3,000 references', () => {
    const links = Array.from({ length: 3000 }, (_, at) => [
      `d${at}`,
      { properties: { n: { $ref: `#/$defs/d${at + 1}` } } },
    ])
    const schema = { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(links), d3000: { type: 'string' } } }
    expect(errorsOf(schema, { n: { n: 1 } })).toBe(true)
  })
})
