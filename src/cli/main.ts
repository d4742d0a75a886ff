import { randomSeed } from '../random-seed.js'
import type { CliIo, StopSignal } from './io.js'
import { runCli } from './run-cli.js'

const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM']

/** After the work is done, how long a reader who does not read may hold the process. */
const LINGER_MS = 1000

/** Runs the command line of this process. The only file of the commands that knows the process. */
export async function main(): Promise<number> {
  // A reader that has gone away (`… | head`) is no failure.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  const code = await runCli(process.argv.slice(2), processIo())
  setTimeout(() => process.exit(code), LINGER_MS).unref()
  return code
}

function processIo(): CliIo {
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    pid: process.pid,
    onSignal(listener) {
      const listeners = SIGNALS.map((signal) => [signal, () => listener(signal)] as const)
      for (const [signal, listen] of listeners) process.on(signal, listen)
      return () => {
        for (const [signal, listen] of listeners) process.off(signal, listen)
      }
    },
    exit: (code) => process.exit(code),
    monotonic: () => performance.now(),
    randomSeed,
  }
}
