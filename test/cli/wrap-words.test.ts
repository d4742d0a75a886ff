import { describe, expect, it } from 'vitest'
import { cellWidth } from '../../src/cli/cells.js'
import { wrapWords } from '../../src/cli/print.js'
import { runCli } from '../../src/cli/run-cli.js'
import { testIo } from './test-io.js'

describe('a text of one line', () => {
  const text = 'one two  three /a/path/that/is/longer/than/the/row and 犬 猫 鳥 fours'

  it('wraps between words, with indented continuation rows', () => {
    const rows = wrapWords(text, 20).split('\n')
    expect(rows).toEqual(['one two  three', '  /a/path/that/is/longer/than/the/row', '  and 犬 猫 鳥', '  fours'])
    expect(rows.filter((row) => cellWidth(row) >= 20)).toHaveLength(1)
  })

  it('keeps its own indentation', () =>
    expect(wrapWords('  early-retry, and more', 20)).toBe('  early-retry, and\n    more'))

  it('stays unchanged if it fits, and off a terminal', () => {
    expect(wrapWords(text, 200)).toBe(text)
    expect(wrapWords(text, undefined)).toBe(text)
  })
})

describe.each([60, 80, 120])('at a terminal of %i columns', (columns) => {
  it.each([
    [['serve', '--plan', 'gold', '--port', 'x']],
    [['serve', '--fault', 'listPets:what', '--fixtures', '/nowhere/at/all']],
    [['exec', '--fail-on', 'unautenticated', '--', 'true']],
    [['call', 'listPetz']],
    [['call', 'listPets', '--limit', '500', '--status', 'lost']],
    [['control', 'clock', 'advnce']],
    [['exec', '--', 'no-such-command-anywhere']],
  ])('%j prints its problem without breaking a word', async (argv) => {
    const [io, pipe] = [testIo({ tty: true }), testIo()]
    io.stderr.columns = columns
    expect(await runCli(argv, io)).toBe(await runCli(argv, pipe))
    const rows = io.stderr.text.trimEnd().split('\n')
    expect(rows.filter((row) => row.trim().includes(' ') && cellWidth(row) >= columns)).toEqual([])
    // Only blanks and line ends differ from what a program reads.
    const words = (text: string) => text.split(/\s+/).filter((word) => !/seed/.test(word))
    expect(words(io.stderr.text)).toEqual(words(pipe.stderr.text))
  })
})

it('does not wrap on a terminal without a width', async () => {
  const [io, pipe] = [testIo({ tty: true }), testIo()]
  io.stderr.columns = 0
  const argv = ['exec', '--', 'no-such-command-anywhere']
  expect(await runCli(argv, io)).toBe(await runCli(argv, pipe))
  expect(io.stderr.text).toBe(pipe.stderr.text)
})
