import { expect, it } from 'vitest'
import { wrapWords } from '../../src/cli/print.js'
import { runCli } from '../../src/cli/run-cli.js'
import { cellWidth } from '../../src/cli/table.js'
import { testIo } from './test-io.js'

it('a text wraps between words on a terminal, and stays as it is elsewhere', () => {
  const text = `one two three ${'/a/path/that/is/longer/than/the/row'.repeat(2)} and four`
  expect(wrapWords(text, 50).split('\n')).toEqual(['one two three', text.split(' ')[3], 'and four'])
  expect(wrapWords(text, undefined)).toBe(text)
})

it('counts wide characters as two cells', () => {
  expect(wrapWords('犬猫鳥 魚'.repeat(10), 41).split('\n').map(cellWidth)).toSatisfy((widths: number[]) =>
    widths.every((width) => width <= 40),
  )
})

it('does not wrap on a terminal without a width', async () => {
  const [io, pipe] = [testIo({ tty: true }), testIo()]
  io.stderr.columns = 0
  const argv = ['exec', '--', 'no-such-command-anywhere']
  expect(await runCli(argv, io)).toBe(await runCli(argv, pipe))
  expect(io.stderr.text).toBe(pipe.stderr.text)
})
