import { describe, expect, it } from 'vitest'
import { isWide } from '../../src/contract/wide.js'

const text = { type: 'string' }
const object = (count: number, inner: unknown) => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, inner])),
})

describe('a schema that is compiled at the start', () => {
  it.each<[string, unknown]>([
    ['many properties', object(301, text)],
    ['many properties of properties', object(20, object(20, text))],
    ['many alternatives', { anyOf: Array.from({ length: 301 }, () => text) }],
  ])('has %s', (_what, schema) => {
    expect(isWide(schema)).toBe(true)
  })

  it('is not one that refers to many others', () => {
    expect(isWide({ ...object(100, { $ref: '#/$defs/a' }), $defs: object(301, text).properties })).toBe(false)
  })
})
