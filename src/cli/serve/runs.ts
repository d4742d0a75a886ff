import type { Contract } from '../../contract/contract.js'
import type { ResolvedOptions } from '../../options/options.js'
import { type RunningSandbox, runSandbox } from '../../sandbox.js'

type SandboxEvents = Parameters<typeof runSandbox>[1]

/** A sandbox that runs, and what it was made of. */
export interface Run {
  readonly options: ResolvedOptions
  readonly contract: Contract
  readonly sandbox: RunningSandbox
}

/** The sandbox of this process: one after the other, all at the same address. */
export class Runs {
  #run: Run
  readonly #events: SandboxEvents
  readonly #announce: (run: Run) => () => void
  #forget: () => void
  #lose: (why: unknown) => void = () => {}
  /** Rejects when there is no sandbox left. */
  readonly lost: Promise<never>

  /** @param announce says where it runs; returns how to take that back */
  constructor(first: Run, events: SandboxEvents, announce: (run: Run) => () => void) {
    this.#run = first
    this.#events = events
    this.#announce = announce
    this.#forget = announce(first)
    this.lost = new Promise((_, reject) => {
      this.#lose = reject
    })
    // Whoever stops it does not wait for it any more.
    this.lost.catch(() => {})
  }

  get run(): Run {
    return this.#run
  }

  /** The sandbox that runs has been given these options. */
  adopt(options: ResolvedOptions): void {
    this.#run = { ...this.#run, options }
  }

  /**
   * Puts another one in the place of the one that runs, on the same port.
   *
   * @throws why it cannot start; the one before runs again then
   */
  async replace(options: ResolvedOptions, contract: Contract): Promise<void> {
    const before = this.#run
    const port = Number(new URL(before.sandbox.baseUrl).port)
    await this.stop()
    try {
      await this.#start(options, contract, port)
    } catch (error) {
      await this.#start(before.options, before.contract, port).catch(this.#lose)
      throw error
    }
  }

  async #start(options: ResolvedOptions, contract: Contract, port: number): Promise<void> {
    // What --reset asked for was done the first time.
    const sandbox = await runSandbox({ ...options, port, reset: false }, this.#events, contract)
    this.#run = { options, contract, sandbox }
    this.#forget = this.#announce(this.#run)
  }

  async stop(): Promise<void> {
    this.#forget()
    await this.#run.sandbox.stop('clean')
  }
}
