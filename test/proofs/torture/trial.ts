import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type RandomStream, randomStream } from '../../../src/domain/random.js'
import { packageDirectory } from '../../../src/system/package-files.js'

const STOP_PATIENCE_MS = 20_000

/** The built command as a process of its own, to be tormented. */
export class Server {
  readonly child: ChildProcess
  /** Lines of stderr so far. */
  readonly lines: string[] = []
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<{ readonly code: number | NodeJS.Signals }>
  /** Rejects with its stderr if it ends before it is ready. */
  readonly ready: Promise<void>
  port = 0
  #mayEnd = false

  constructor(folder: string, flags: readonly string[]) {
    const command = [join(packageDirectory, 'bin/petstore-sandbox.js'), 'serve', '--port', '0', '--log', 'silent']
    const child = spawn(process.execPath, [...command, ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    this.child = child
    this.ended = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal }))
    this.ready = new Promise((resolve, reject) => {
      createInterface(child.stderr).on('line', (line) => {
        this.lines.push(line)
        this.port ||= Number(/\bhttp:\/\/[\d.]+:(\d+)/.exec(line)?.[1] ?? 0)
        if (this.port !== 0) resolve()
      })
      this.ended.then(({ code }) => reject(new Error(`serve ended with ${code} before it was ready: ${this.said}`)))
    })
  }

  get said(): string {
    return this.lines.join('\n')
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.#mayEnd = true
    this.child.kill('SIGKILL')
    await this.ended
  }

  /** A signal that it is to stop by, and how it ended. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ readonly code: number | NodeJS.Signals }> {
    this.#mayEnd = true
    this.child.kill(signal)
    const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_PATIENCE_MS)
    return this.ended.finally(() => clearTimeout(patience))
  }

  /** MiB that it holds now. */
  memory(): number {
    const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8')
    return Math.round(Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1]) / 1024)
  }

  /** Ends it if it still runs. @returns its crash or internal failure */
  async findCrash(): Promise<string | undefined> {
    const isRunning = this.child.exitCode === null && this.child.signalCode === null
    if (isRunning || !this.#mayEnd) {
      const { code } = isRunning ? await this.stop() : await this.ended
      if (!isRunning || code !== 0) return `it ${isRunning ? 'did not stop well' : 'crashed'} (${code}): ${this.said}`
    }
    // Node's own warnings, of listeners that pile up for one, come with the process's number.
    const own = this.lines.find((line) => /failed inside the sandbox|plane failed|\(node:\d+\)/.test(line))
    return own === undefined ? undefined : `it failed inside: ${own}`
  }
}

/** One way to torment a running sandbox. */
export interface Experiment {
  /** The unit of its figures, in the plural. */
  readonly counts: string
  /** Milliseconds after which it counts as hung, if not the default. */
  readonly timeoutMs?: number
  /** A stall of the machine can make it fail, and then it is repeated. */
  readonly needsRealTime?: boolean
  run(trial: Trial): Promise<void>
}

/** Maximum number of described losses; the others are only counted. */
const TOLD_LOSSES = 10

/** One run of an experiment: its random choices, servers, folders and results. */
export class Trial {
  readonly #chance: RandomStream
  readonly isShort: boolean
  readonly losses: string[] = []
  readonly notes: string[] = []
  survived = 0
  lost = 0
  readonly #servers: Server[] = []
  readonly #undo: (() => unknown)[] = []

  constructor(seed: string, isShort: boolean) {
    this.#chance = randomStream(seed)
    this.isShort = isShort
  }

  size(long: number, short: number): number {
    return this.isShort ? short : long
  }

  /** A whole number, `from` at least, below `below`. */
  integer(from: number, below: number): number {
    return from + Math.floor(this.#chance.next() * (below - from))
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length)] as T
  }

  survive(count = 1): void {
    this.survived += count
  }

  lose(what: string): void {
    this.lost++
    if (this.losses.length < TOLD_LOSSES) this.losses.push(what.slice(0, 400))
  }

  /** One trial: survived if it holds, else lost with these words. */
  check(holds: boolean, what: () => string): void {
    if (holds) this.survive()
    else this.lose(what())
  }

  /** Adds a figure to the table. */
  note(text: string): void {
    this.notes.push(text)
  }

  /** A temporary folder. */
  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'torture-'))
    this.afterwards(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  /** Last come, first done. */
  afterwards(undo: () => unknown): void {
    this.#undo.push(undo)
  }

  /** Starts `petstore-sandbox serve` and waits until it is ready. */
  async serve(folder: string, flags: readonly string[] = []): Promise<Server> {
    const server = new Server(folder, flags)
    this.#servers.push(server)
    await server.ready
    return server
  }

  /** Ends what still runs. One that has ended on its own, or does not end well, has crashed. */
  async end(): Promise<void> {
    for (const server of this.#servers) {
      const crash = await server.findCrash()
      if (crash !== undefined) this.lose(crash)
    }
    for (const undo of this.#undo.reverse()) await undo()
  }
}
