import { expect, it } from 'vitest'
import { onExitSignals } from '../../../src/cli/exec/run-command.js'
import { testIo } from '../test-io.js'

it.each([
  [100, 'SIGINT', ['wish SIGINT']],
  [101, 'SIGTERM', ['wish SIGINT', 'order SIGTERM']],
] as const)(
  'a signal that comes again %i ms later is an order only after 100 ms: npm sends each twice',
  (ms, signal, all) => {
    const io = testIo()
    const heard: string[] = []
    const record = (kind: string) => (given: string) => heard.push(`${kind} ${given}`)
    onExitSignals(io, { graceful: record('wish'), force: record('order') })()
    io.signal('SIGINT')
    io.pass(ms)
    io.signal(signal)
    expect(heard).toEqual(all)
  },
)
