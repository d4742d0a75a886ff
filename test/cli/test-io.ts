import { Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { Sandbox } from '../../src/api/controls.js'
import { startSandbox } from '../../src/api/start.js'
import type { CliIo, Output, StopSignal } from '../../src/cli/io.js'
import { runCli } from '../../src/cli/run-cli.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** A stream that records its output, and lets a test wait for it. */
export class Captured extends Writable implements Output {
  text = ''
  readonly isTTY: boolean
  columns?: number
  #waiting: (() => void)[] = []

  constructor(isTTY = false) {
    super()
    this.isTTY = isTTY
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    for (const look of this.#waiting) look()
    done()
  }

  /** Resolves with the first match, as soon as it is written. */
  async seen(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.text)
      if (match !== null) return match
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }
}

export interface TestIo extends CliIo {
  readonly stdout: Captured
  readonly stderr: Captured
  /** Exit codes of `exit`, which in a test ends nothing. */
  readonly exits: number[]
  signal(signal: StopSignal): void
  /** Moves the monotonic clock. */
  pass(milliseconds: number): void
  readonly listeners: ReadonlySet<(signal: StopSignal) => void>
}

/** A process for commands, in a folder of its own that is gone after the test. */
export function testIo(given: { env?: CliIo['env']; tty?: boolean; cwd?: string } = {}): TestIo {
  const { env = {}, tty = false, cwd = temporaryFolder() } = given
  const listeners = new Set<(signal: StopSignal) => void>()
  const exits: number[] = []
  let now = 0
  return {
    stdout: new Captured(tty),
    stderr: new Captured(tty),
    env,
    cwd,
    pid: 4711,
    exits,
    listeners,
    onSignal(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    signal: (signal) => {
      for (const listener of listeners) listener(signal)
    },
    pass: (milliseconds) => {
      now += milliseconds
    },
    exit: (code) => exits.push(code),
    monotonic: () => now,
    randomSeed: () => 42,
  }
}

/** Words, or a line that is split at its blanks. */
type CommandLine = string | readonly string[]
const wordsOf = (argv: CommandLine) => (typeof argv === 'string' ? argv.split(' ') : argv)

/** Runs a command in this process. */
export async function run(argv: CommandLine, io = testIo()) {
  const code = await runCli(wordsOf(argv), io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

/** A sandbox whose clock stands still, stopped after the test. */
export async function sandboxWith(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ seed: 1, now: '2026-03-01T10:00:00Z', freeze: true, ...options })
  onTestFinished(() => sandbox.close())
  return sandbox
}

/** A process whose environment names a sandbox. */
export function ioAt({ controlUrl }: Sandbox, env: CliIo['env'] = {}): TestIo {
  return testIo({ env: { PETSTORE_SANDBOX_URL: controlUrl, ...env } })
}

/** Runs `control` at a sandbox. */
export function control(sandbox: Sandbox, argv: CommandLine, env: CliIo['env'] = {}) {
  return run(['control', ...wordsOf(argv)], ioAt(sandbox, env))
}

/** Runs `control` at a sandbox. @returns the value that it prints with --json */
export async function controlJson(sandbox: Sandbox, line: string) {
  const { code, out, err } = await control(sandbox, `${line} --json`)
  if (code !== 0 || err !== '') throw new Error(`${line} ended with ${code}: ${err}`)
  return JSON.parse(out)
}

export function get({ baseUrl }: { readonly baseUrl: string }, path: string, key = 'sandbox', init: RequestInit = {}) {
  return fetch(baseUrl + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } })
}
