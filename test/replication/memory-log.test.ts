import { MemoryLog } from '../support/memory-log.js'
import { describeLog, type TestedLine, type TestedLog } from './log-port.js'
import { RecordingWatcher } from './recording-follower.js'

describeLog('in memory', async (): Promise<TestedLog> => {
  let now = 1_000
  // Sometimes goes back.
  const log = new MemoryLog(() => (now += now % 7 === 0 ? -3 : 4))
  return {
    async open(): Promise<TestedLine> {
      const watcher = new RecordingWatcher()
      const line = log.open(watcher)
      return {
        log: line,
        watcher,
        cut: () => line.cutOff(),
        cutBeforeResponseTo: () => line.cutBeforeResponse(),
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
