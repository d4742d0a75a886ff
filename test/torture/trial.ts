import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RandomStream, randomStream } from '../../src/domain/random.js'
import { Server } from './server.js'

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
