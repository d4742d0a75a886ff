import { expect, it } from 'vitest'
import { boundedCompiler } from '../../src/contract/bounded-ajv.js'
import type { JsonSchema } from '../../src/contract/json-schema.js'
import { nativePattern } from '../../src/contract/patterns.js'
import { findViolations } from '../../src/contract/validators.js'

const compile = boundedCompiler({ find: nativePattern, maxErrors: 100 })

it.each<[JsonSchema, unknown, string]>([
  [{ minProperties: 1 }, {}, 'the body must have at least 1 property (it is an object)'],
  [{ maxProperties: 2 }, { a: 1, b: 2, c: 3 }, 'the body must have at most 2 properties (it is an object)'],
  [{ properties: { a: { not: { const: 'b' } } } }, { a: 'b' }, 'a is not allowed (it is "b")'],
  [{ properties: { a: false } }, { a: 1 }, 'a is not allowed (it is 1)'],
  [{ properties: { a: true }, unevaluatedProperties: false }, { b: 1 }, 'b is not allowed'],
  [
    { properties: { a: { anyOf: [{ required: ['b'] }] } } },
    { a: {} },
    'a must match one of the alternatives (it is an object)',
  ],
  [{ oneOf: [true, true] }, {}, 'the body must match exactly one of the alternatives (it is an object)'],
  [
    { properties: { a: { prefixItems: [true], items: false } } },
    { a: [1, 2] },
    'a must have at most 1 item (it is an array)',
  ],
  [
    { properties: { a: { prefixItems: [true], unevaluatedItems: false } } },
    { a: [1, 2] },
    'a must have at most 1 item (it is an array)',
  ],
])('a mistake is named without the words of JSON Schema: %j', (schema, value, message) => {
  expect(
    findViolations(compile(schema, false), value, 'body')
      .map((one) => one.message)
      .at(-1),
  ).toBe(message)
})
