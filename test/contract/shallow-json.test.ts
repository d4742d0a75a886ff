import { describe, expect, it } from 'vitest'
import { parseShallowJson } from '../../src/contract/json.js'

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

describe('parseShallowJson', () => {
  it('reads up to 1,000 levels, and any number of values', () => {
    expect(() => parseShallowJson(nested(1000))).not.toThrow()
    expect(parseShallowJson(`[${Array.from({ length: 5000 }, () => '[]').join()}]`)).toHaveLength(5000)
    expect(parseShallowJson(JSON.stringify('['.repeat(5000)))).toHaveLength(5000)
  })

  it.each([nested(1001), nested(200_000), `${'{"a":'.repeat(1001)}1${'}'.repeat(1001)}`])(
    'is refused beyond, as no program could write it: %#',
    (text) => expect(() => parseShallowJson(text)).toThrow(/^it is nested more than 1000 levels deep$/),
  )
})
