import { expect, it } from 'vitest'
import { readSetUp, scenarioOf, writeSetUp } from '../../../src/web/playground/set-up.js'

const { setUp: initial } = readSetUp('')

it('reads a link that it wrote', () => {
  const setUp = { conditions: ['storm', 'broken'], wait: 'retryAfter ?? 1 + 1 & "%' } as const
  const plain = { ...setUp, wait: 'retryAfter ?? 1 + attempt' }
  expect(readSetUp(writeSetUp(plain))).toEqual({ setUp: plain, problems: [] })
  expect(writeSetUp(initial)).toBe('')
  expect(readSetUp(writeSetUp(setUp)).setUp.conditions).toEqual(setUp.conditions)
})

it('leaves out unreadable parts of a link, and names them', () => {
  expect(readSetUp('#conditions=storm,wind&wait=run()&speed=9')).toEqual({
    setUp: { conditions: ['storm'], wait: initial.wait },
    problems: [
      'Unknown condition "wind". Use storm, slow, broken.',
      'The policy "run()" was left out. Unknown function "run". Use min, max, round, floor, ceil.',
      'Unknown field "speed". A link has conditions and wait.',
    ],
  })
})

it('turns off the conditions that are not chosen', () => {
  expect(scenarioOf([])).toEqual({ storm: 'off', fault: [], latency: '0ms' })
  expect(scenarioOf(['slow'])).toEqual({ storm: 'off', fault: [], latency: '800ms' })
})
