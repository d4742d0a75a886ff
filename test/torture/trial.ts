import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RandomStream, randomStream } from '../../src/domain/random.js'
import { Server, type ServerOptions } from './server.js'

/** One way to torment a running sandbox. */
export interface Experiment {
  /** What one trial of it is, in the plural: what the figures count. */
  readonly counts: string
  /** One that takes longer hangs; where it is not the usual time. */
  readonly patienceMs?: number
  run(trial: Trial): Promise<void>
}

/** As many losses as are told in words; the others are only counted. */
const TOLD_LOSSES = 10

/** What an experiment is given: chance, servers, folders; and where it says what came of it. */
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

  /** So many in the long form, so many in the short one. */
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

  /** A figure worth knowing beside those of the table. */
  note(text: string): void {
    this.notes.push(text)
  }

  /** A folder that is gone afterwards; everybody may look into it. */
  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'torture-'))
    chmodSync(folder, 0o755)
    this.afterwards(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  /** Last come, first done. */
  afterwards(undo: () => unknown): void {
    this.#undo.push(undo)
  }

  /** Starts `petstore-sandbox serve` and gives it before it is ready. */
  begin(folder: string, flags: readonly string[] = [], options: ServerOptions = {}): Server {
    const server = new Server(folder, flags, options)
    this.#servers.push(server)
    return server
  }

  /** Starts `petstore-sandbox serve`. Rejects, with what it said, if it ends before it is ready. */
  async serve(folder: string, flags: readonly string[] = [], options: ServerOptions = {}): Promise<Server> {
    const server = this.begin(folder, flags, options)
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
