import { describe, expect, it } from 'vitest'
import { keyReader, type TerminalSignal } from '../../src/cli/serve/keys.js'
import { browserCommand } from '../../src/cli/serve/open-browser.js'

function reader() {
  const done: string[] = []
  const said: string[] = []
  const raised: TerminalSignal[] = []
  const actions = {
    a: { does: 'act', run: () => void done.push('a') },
    r: { does: 'reset', question: 'Sure?', run: () => void done.push('r') },
    x: { does: 'fail', run: () => Promise.reject(new Error('no')) },
  }
  const printLine = (text: string) => said.push(text)
  const raise = (signal: TerminalSignal) => raised.push(signal)
  const press = keyReader(actions, { printLine, raise, failed: (error) => said.push(String(error)) })
  return {
    ...{ done, said, raised },
    async press(...pieces: readonly string[]) {
      for (const piece of pieces) press(piece)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

describe('keys', () => {
  it.each([
    ['a A', 'a a'],
    ['z \u001b', ''],
    ['\u001b[A aaa ra', ''],
    ['r', ''],
    ['r y', 'r'],
    ['r a y', ''],
    ['toString __proto__', ''],
  ])('%j do %j', async (pieces, expected) => {
    const { press, done } = reader()
    await press(...pieces.split(' '))
    expect(done.join(' ')).toBe(expected)
  })

  it.each([
    ['\u0003', 'SIGINT'],
    ['\u001c', 'SIGQUIT'],
    ['\u001a', 'SIGTSTP'],
  ])('%j is %s, also during a question', async (key, signal) => {
    const { press, raised, done } = reader()
    await press('r', key)
    expect([raised, done]).toEqual([[signal], []])
  })

  it('list their actions, and report failures', async () => {
    const { press, said } = reader()
    await press('h', 'x')
    expect(said[0]).toContain('  a  act\n')
    expect(said[1]).toBe('Error: no')
  })
})

it.each([
  ['linux', ['xdg-open', 'http://x/?a=1&b']],
  ['darwin', ['open', 'http://x/?a=1&b']],
  ['win32', ['cmd', '/c', 'start', '""', 'http://x/?a=1^&b']],
] as const)('a browser is opened on %s by the system itself', (platform, command) =>
  expect(browserCommand(platform, 'http://x/?a=1&b')).toEqual(command),
)
