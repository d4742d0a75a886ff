import { describe, expect, it } from 'vitest'
import { cellWidth, fitCells, padCells, table } from '../../src/cli/table.js'

describe('the cells of a terminal', () => {
  it.each([
    ['', 0],
    ['Rex', 3],
    ['Zoë', 3],
    ['Zoe\u0308', 3],
    ['小白', 4],
    ['🐢 Turbo', 8],
    ['👩‍👩‍👧', 2],
    ['\u001b[31mRex\u001b[39m', 3],
  ])('%j takes %i', (text, cells) => expect(cellWidth(text)).toBe(cells))

  it.each([
    ['Rex', 3, 'Rex'],
    ['Rexy', 3, 'Re…'],
    ['小白', 4, '小白'],
    ['小白白', 5, '小白…'],
    ['小白白', 4, '小…'],
    ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
    ['Rex', 1, '…'],
    ['Rex', 0, ''],
    ['a'.repeat(2000), 5, 'aaaa…'],
  ])('%j fits into %i as %j', (text, cells, fitted) => {
    expect(fitCells(text, cells)).toBe(fitted)
    expect(cellWidth(fitted)).toBeLessThanOrEqual(cells)
  })

  it('cuts a long text without measuring all of it', () =>
    expect(fitCells(`小${'e\u0301'.repeat(5_000_000)}`, 4)).toBe('小e\u0301…'))

  it('are filled up with blanks', () => {
    expect(padCells('小白', 6)).toBe('小白  ')
    expect(padCells('小白', 3)).toBe('小白')
  })

  it('make a table with more rows than a function takes arguments', () => {
    const rows = Array.from({ length: 200_000 }, (_, row) => [String(row), 'Rex'])
    expect(table(['id', 'name'], rows).split('\n').at(-1)).toBe('199999  Rex')
  })
})
