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

it('does not wrap on a terminal without a width', async () => {
  const [io, pipe] = [testIo({ tty: true }), testIo()]
  io.stderr.columns = 0
  const argv = ['exec', '--', 'no-such-command-anywhere']
  expect(await runCli(argv, io)).toBe(await runCli(argv, pipe))
  expect(io.stderr.text).toBe(pipe.stderr.text)
})
