import { describe, expect, it } from 'vitest'
import { table } from '../../../src/cli/table.js'

describe('a table', () => {
  it('can have more rows than a function takes arguments', () => {
    const rows = Array.from({ length: 200_000 }, (_, row) => [String(row), 'Rex'])
    expect(table(['id', 'name'], rows).split('\n').at(-1)).toBe('199999  Rex')
  })
})
