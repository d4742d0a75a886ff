import { MemoryLog } from '../support/memory-log.js'
import { AWatcher } from './a-follower.js'
import { describeLog, type TriedLine, type TriedLog } from './log-port.js'

describeLog('in memory', async (): Promise<TriedLog> => {
  let now = 1_000
  // A clock that goes back now and then.
  const log = new MemoryLog(() => (now += now % 7 === 0 ? -3 : 4))
  return {
    async open(): Promise<TriedLine> {
      const watcher = new AWatcher()
      const line = log.open(watcher)
      return {
        log: line,
        watcher,
        cut: () => line.cutOff(),
        cutInAnswerTo: () => line.cutOffInAnswer(),
        restore: () => line.restore(),
      }
    },
    async mark() {
      const count = log.entries.length
      return async () => log.loseEnd(log.entries.length - count)
    },
    async close() {},
  }
})
