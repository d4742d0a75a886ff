import { describe, expect, it } from 'vitest'
import { onExitSignals } from '../../../src/cli/exec/run-command.js'
import { testIo } from '../test-io.js'

function listen() {
  const io = testIo()
  const heard: string[] = []
  onExitSignals(io, {
    graceful: (signal) => heard.push(`wish ${signal}`),
    force: (signal) => heard.push(`order ${signal}`),
  })()
  return { io, heard }
}

describe('signals of exec', () => {
  it('are passed on once, however often npm sends them', () => {
    const { io, heard } = listen()
    io.signal('SIGINT')
    io.pass(100)
    io.signal('SIGINT')
    expect(heard).toEqual(['wish SIGINT'])
  })

  it('are an order when they come again later', () => {
    const { io, heard } = listen()
    io.signal('SIGINT')
    io.pass(101)
    io.signal('SIGTERM')
    expect(heard).toEqual(['wish SIGINT', 'order SIGTERM'])
  })
})
