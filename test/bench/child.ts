import { type ChildProcess, type ExecFileOptions, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** A process that was started by the bench, and that does not outlive it. */
export interface Child {
  readonly pid: number
  readonly hasEnded: () => boolean
  /** What it said on stderr, its end. */
  readonly lastWords: () => string
  end(signal: NodeJS.Signals): Promise<void>
}

const LAST_WORDS = 2_000
const running = new Set<ChildProcess>()

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
// The handlers of 'exit' end the children and remove the folders. A second signal, as npm sends, must not cut them short.
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
process.on('SIGHUP', () => process.exit(129))

/** Starts Node with a script, without any setting of the sandbox that the shell may hold. */
export function startNode(args: readonly string[], cwd: string): Child {
  const child = spawn(process.execPath, args, { cwd, env: plainEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] })
  const { pid } = child
  if (pid === undefined) throw new Error(`could not start ${args.join(' ')}`)
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-LAST_WORDS)
  })
  running.add(child)
  const ended = once(child, 'exit').then(() => void running.delete(child))
  return {
    pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    lastWords: () => said,
    async end(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/** Runs a program to its end. Resolves with what it wrote to stdout. Rejects if it failed. */
export function runToEnd(file: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { encoding: 'utf8', ...options }, (error, stdout) => {
      running.delete(child)
      if (error === null) resolve(stdout.toString())
      else reject(error)
    })
    running.add(child)
  })
}

export function plainEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PETSTORE_')))
}

/** A port that nobody has at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
