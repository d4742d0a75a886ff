import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type RandomStream, randomStream } from '../../src/domain/random.js'
import { packageDirectory } from '../../src/system/package-files.js'

/** How a process ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const STOP_PATIENCE_MS = 20_000

/** The built command as a process of its own, to be tormented. */
export class Server {
  readonly child: ChildProcess
  /** Lines of stderr so far. */
  readonly lines: string[] = []
  readonly ended: Promise<Ending>
  /** Rejects with its stderr if it ends before it is ready. */
  readonly ready: Promise<void>
  #port = 0
  #mayEnd = false

  constructor(folder: string, flags: readonly string[]) {
    const command = [join(packageDirectory, 'bin/petstore-sandbox.js'), 'serve', '--port', '0', '--log', 'silent']
    this.child = spawn(process.execPath, [...command, ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    if (this.child.stderr === null) throw new Error('the child has no stderr')
    this.ended = once(this.child, 'close').then(([code, signal]) => ({ code, signal }))
    const lines = createInterface(this.child.stderr)
    const served = new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        this.lines.push(line)
        const port = this.#port === 0 ? /\bhttp:\/\/[\d.]+:(\d+)/.exec(line)?.[1] : undefined
        if (port === undefined) return
        this.#port = Number(port)
        resolve()
      })
    })
    this.ready = Promise.race([
      served,
      this.ended.then(({ code, signal }) => {
        throw new Error(`serve ended with ${code ?? signal} before it was ready: ${this.said}`)
      }),
    ])
    // An experiment may kill it during the start.
    this.ready.catch(() => {})
  }

  get port(): number {
    return this.#port
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
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.#mayEnd = true
    this.child.kill(signal)
    const patience = setTimeout(() => this.child.kill('SIGKILL'), STOP_PATIENCE_MS)
    return this.ended.finally(() => clearTimeout(patience))
  }

  /** It is expected to end on its own. */
  async end(): Promise<Ending> {
    this.#mayEnd = true
    return this.ended
  }

  /** MiB that it holds now. */
  memory(): number {
    return this.#memory('VmRSS')
  }

  /** Peak MiB; without /proc, the current MiB. */
  peakMemory(): number {
    return this.#memory('VmHWM')
  }

  #memory(field: 'VmRSS' | 'VmHWM'): number {
    return Math.round((this.#kibibytesInProc(field) ?? this.#kibibytesByPs()) / 1024)
  }

  #kibibytesInProc(field: string): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.child.pid}/status`, 'utf8')
      return Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1])
    } catch {
      return undefined
    }
  }

  #kibibytesByPs(): number {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(this.child.pid)], { encoding: 'utf8' }))
  }

  /** Ends it if it still runs. @returns its crash or internal failure */
  async findCrash(): Promise<string | undefined> {
    const isRunning = this.child.exitCode === null && this.child.signalCode === null
    if (isRunning) {
      const { code, signal } = await this.stop()
      if (code !== 0) return `it did not stop well (${code ?? signal}): ${this.said}`
    } else if (!this.#mayEnd) {
      const { code, signal } = await this.ended
      return `it crashed (${code ?? signal}): ${this.said}`
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
  readonly patienceMs?: number
  run(trial: Trial): Promise<void>
}

/** Maximum number of described losses; the others are only counted. */
const TOLD_LOSSES = 10

/** One run of an experiment: its random choices, servers, folders and results. */
export class Trial {
  readonly seed: string
  readonly chance: RandomStream
  readonly isShort: boolean
  readonly losses: string[] = []
  readonly notes: string[] = []
  survived = 0
  lost = 0
  readonly #servers: Server[] = []
  readonly #undo: (() => unknown)[] = []

  constructor(seed: string, isShort: boolean) {
    this.seed = seed
    this.chance = randomStream(seed)
    this.isShort = isShort
  }

  size(long: number, short: number): number {
    return this.isShort ? short : long
  }

  /** A whole number, `from` at least, below `below`. */
  integer(from: number, below: number): number {
    return from + Math.floor(this.chance.next() * (below - from))
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.integer(0, choices.length)] as T
  }

  survive(count = 1): void {
    this.survived += count
  }

  lose(what: string): void {
    this.lost++
    if (this.losses.length < TOLD_LOSSES) this.losses.push(what)
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

  /** Starts `petstore-sandbox serve` and gives it before it is ready. */
  begin(folder: string, flags: readonly string[] = []): Server {
    const server = new Server(folder, flags)
    this.#servers.push(server)
    return server
  }

  /** Starts `petstore-sandbox serve` and waits until it is ready. */
  async serve(folder: string, flags: readonly string[] = []): Promise<Server> {
    const server = this.begin(folder, flags)
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
