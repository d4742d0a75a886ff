import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { causesText, headLine, type Mark } from '../../../src/cli/conduct/verdict-text.js'
import { coloursFor } from '../../../src/cli/print.js'

const ALL: readonly Mark[] = ['passed', 'failed', 'warned', 'untested', 'noted']

it('a verdict has the same text with and without colours', async () => {
  const [plain, coloured] = await Promise.all([coloursFor(0), coloursFor(1)])
  const head = (colours: typeof plain) =>
    headLine(
      ALL.map((mark) => [mark, `1 ${mark}`]),
      '20 scenarios',
      colours,
    )
  const causes = (colours: typeof plain) =>
    causesText([{ mark: 'noted', title: 'It repeats a 401', aside: 'twice', lines: ['GET /pets'] }], colours).join('\n')
  for (const text of [head, causes]) {
    expect(text(coloured)).not.toBe(text(plain))
    expect(stripVTControlCharacters(text(coloured))).toBe(text(plain))
  }
})

it('a long title is wrapped at words, beside its count', async () => {
  const cause = {
    mark: 'failed',
    title: 'It repeats a request that was stored',
    aside: '2 scenarios',
    lines: ['x'],
  } as const
  expect(causesText([cause], await coloursFor(0), 40)).toEqual([
    '✗ It repeats a request      2 scenarios',
    '  that was stored',
    '  x',
  ])
})
