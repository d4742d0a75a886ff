import { type ChildProcess, type ExecFileOptions, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { packageDirectory } from '../../../src/system/package-files.js'

/** The options of a bench. */
export function readFlags(): { readonly isQuick: boolean; readonly writesDocs: boolean } {
  const boolean = { type: 'boolean', default: false } as const
  const { quick, 'write-docs': writesDocs } = parseArgs({ options: { quick: boolean, 'write-docs': boolean } }).values
  if (quick && writesDocs) throw new Error('The figures of a quick run do not belong into the documents.')
  return { isQuick: quick, writesDocs }
}

/** A process that was started by the bench, and that does not outlive it. */
export interface Child {
  readonly pid: number
  readonly hasEnded: () => boolean
  /** The end of its stderr. */
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

/** Runs a program to its end. @returns its stdout @throws Error if it failed */
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

export const benchDirectory = join(packageDirectory, 'test/proofs/bench')
/** The built command, as users run it. */
export const command = join(packageDirectory, 'bin/petstore-sandbox.js')
export const contract = join(packageDirectory, 'openapi.yaml')

const scratch = mkdtempSync(join(tmpdir(), 'petstore-sandbox-bench-'))
let folders = 0

/** An empty folder of this run, gone when it ends. */
export function newFolder(): string {
  const folder = join(scratch, String(++folders))
  mkdirSync(folder)
  return folder
}

process.once('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

const LOOK_MS = 3_000

/** How much of the machine's processors others use while this process waits for some seconds: a share, 0 to 1. */
export async function busyShare(): Promise<number> {
  const look = () => {
    const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({ idle, busy: user + nice + sys + irq }))
    return times.reduce((sum, { idle, busy }) => ({ idle: sum.idle + idle, busy: sum.busy + busy }))
  }
  const before = look()
  await pause(LOOK_MS)
  const after = look()
  const busy = after.busy - before.busy
  return busy / (busy + after.idle - before.idle)
}

/** Prints progress to stderr. */
export function say(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${what}`)
  else process.stderr.write(`${what}\n`)
}

/** Ticks of /proc/<pid>/stat. @source proc(5) */
const TICK_US = 10_000

/** Processor time that a process has taken so far, in microseconds. */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}

/** Installs what the sandbox is measured beside, once. */
export function installPeers(): void {
  if (existsSync(join(benchDirectory, 'node_modules/.package-lock.json'))) return
  process.stderr.write('Installing the peers into test/proofs/bench/node_modules …\n')
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: benchDirectory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
