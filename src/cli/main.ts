import { systemClock } from '../system/system-clock.js'
import { randomSeed } from '../system/this-process.js'
import { type CliIo, EXIT, SAME_SIGNAL_MS, type StopSignal } from './io.js'
import { printLine } from './print.js'
import { runCli } from './run-cli.js'

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM']

/** How long a blocked reader may delay the exit. */
const LINGER_MS = 1000

export async function main(): Promise<number> {
  let lost: NodeJS.ErrnoException | undefined
  // A closed pipe (`… | head`) is not a failure, a full disk is.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') lost ??= error
  })
  process.stderr.on('error', () => {})
  let signalledAt = Number.NEGATIVE_INFINITY
  const ended = await runCli(
    process.argv.slice(2),
    processIo(() => {
      signalledAt = systemClock.monotonic()
    }),
  )
  if (lost !== undefined) printLine(process.stderr, `The output is lost: ${lost.message}`)
  const code = lost !== undefined && ended === EXIT.ok ? EXIT.failed : ended
  // While Node shuts down, signals have their default effect: wait for the second of a doubled one.
  const stillDoubled = signalledAt + SAME_SIGNAL_MS - systemClock.monotonic()
  if (stillDoubled > 0) await new Promise((resolve) => setTimeout(resolve, stillDoubled))
  setTimeout(() => process.exit(code), LINGER_MS).unref()
  return code
}

function processIo(onAnySignal: () => void): CliIo {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    pid: process.pid,
    onSignal(listener) {
      const handle = (signal: StopSignal) => () => {
        onAnySignal()
        listener(signal)
      }
      const listeners = SIGNALS.map((signal) => [signal, handle(signal)] as const)
      for (const [signal, listen] of listeners) process.on(signal, listen)
      return () => {
        for (const [signal, listen] of listeners) process.off(signal, listen)
      }
    },
    exit: (code) => process.exit(code),
    monotonic: systemClock.monotonic,
    randomSeed,
  }
}
