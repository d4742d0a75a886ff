import { expect, it } from 'vitest'
import { wrapWords } from '../../src/cli/print.js'
import { cellWidth } from '../../src/cli/table.js'
import { run, testIo } from './test-io.js'

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
  const io = testIo({ tty: true })
  io.stderr.columns = 0
  expect(await run('exec -- no-such-command-anywhere', io)).toEqual(await run('exec -- no-such-command-anywhere'))
})
