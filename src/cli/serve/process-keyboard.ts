import { isInForeground } from '../exec/processes.js'
import type { Keyboard } from '../io.js'

/** A shell does not notify a background process that it is in the foreground again, unless it was stopped. */
const POLL_MS = 500
/** After this time a requested stop has happened, or will not: without job control nobody could resume the process. */
const STOP_TIMEOUT_MS = 100

export function openKeyboard(): Keyboard | undefined {
  const { stdin } = process
  if (!stdin.isTTY) return undefined
  return {
    listen({ onKeys, onHangup }) {
      let isReading = false
      const begin = () => {
        // The system stops a background process that changes the terminal.
        if (isReading || !isInForeground()) return
        try {
          stdin.setRawMode(true)
        } catch {
          // The terminal is gone.
          return
        }
        isReading = true
        stdin.resume()
      }
      const end = () => {
        if (!isReading) return
        isReading = false
        stdin.pause()
        try {
          stdin.setRawMode(false)
        } catch {
          // The terminal is gone.
        }
      }
      const resume = () => {
        if (!isReading) return begin()
        isReading = false
        if (!isInForeground()) {
          stdin.pause()
          return
        }
        // After a stop from outside the shell may have reset the terminal without Node's knowledge.
        stdin.setRawMode(false)
        begin()
      }
      const onData = (piece: Buffer) => onKeys(piece.toString())
      const hangUp = () => onHangup()
      stdin.on('data', onData).pause()
      stdin.on('error', hangUp)
      stdin.on('end', hangUp)
      process.on('SIGHUP', hangUp)
      process.on('SIGCONT', resume)
      // Elsewhere it would run ps.
      const polling = process.platform === 'linux' ? setInterval(begin, POLL_MS).unref() : undefined
      begin()
      return {
        isReading,
        suspend() {
          end()
          process.kill(0, 'SIGTSTP')
          setTimeout(begin, STOP_TIMEOUT_MS).unref()
        },
        stop() {
          end()
          stdin.off('data', onData)
          process.off('SIGCONT', resume)
          clearInterval(polling)
          // SIGHUP stays handled, as the other stop signals: a stop that has begun is finished.
        },
      }
    },
    raise: (signal) => void process.kill(0, signal),
  }
}
