import { Writable } from 'node:stream'
import type { CliIo, Output, StopSignal } from '../../src/cli/io.js'
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
export function testIo({
  env = {},
  tty = false,
  cwd,
}: {
  env?: CliIo['env']
  tty?: boolean
  cwd?: string
} = {}): TestIo {
  const listeners = new Set<(signal: StopSignal) => void>()
  const exits: number[] = []
  let now = 0
  return {
    stdout: new Captured(tty),
    stderr: new Captured(tty),
    env,
    cwd: cwd ?? temporaryFolder(),
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
