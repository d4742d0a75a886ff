import type { Contract } from '../../contract/contract.js'
import type { ResolvedOptions } from '../../options/resolve.js'
import { checkStart, type RunningSandbox, runSandbox, type SavedSandbox } from '../../start/sandbox.js'

export interface Run {
  readonly options: ResolvedOptions
  readonly contract: Contract
  readonly sandbox: RunningSandbox
}

/** The successive sandboxes of this process, all at the same address. */
export class Runs {
  #run: Run
  readonly #events: Parameters<typeof runSandbox>[1]
  readonly #announce: (run: Run) => () => void
  #withdraw: () => void
  #lose: (reason: unknown) => void = () => {}
  readonly lost: Promise<never>

  /** @param announce publishes the address; returns a function that withdraws it */
  constructor(first: Run, events: Parameters<typeof runSandbox>[1], announce: (run: Run) => () => void) {
    this.#run = first
    this.#events = events
    this.#announce = announce
    this.#withdraw = announce(first)
    this.lost = new Promise((_, reject) => {
      this.#lose = reject
    })
    // After a stop nothing waits for it.
    this.lost.catch(() => {})
  }

  get run(): Run {
    return this.#run
  }

  adopt(options: ResolvedOptions): void {
    this.#run = { ...this.#run, options }
  }

  /** On the same port. @throws if it cannot start; the previous one then runs in its previous state */
  async replace(options: ResolvedOptions, contract: Contract): Promise<void> {
    const before = this.#run
    const { core, baseUrl } = before.sandbox
    const port = Number(new URL(baseUrl).port)
    await checkStart(options, contract, options.store === undefined ? undefined : core.spaces.default.storedKeys())
    await this.stop().catch((error: unknown) => {
      this.#lose(error)
      throw error
    })
    try {
      await this.#start(options, contract, port)
    } catch (error) {
      await this.#start(before.options, before.contract, port, await core.save()).catch(this.#lose)
      throw error
    }
  }

  async #start(options: ResolvedOptions, contract: Contract, port: number, saved?: SavedSandbox): Promise<void> {
    // --reset applies to the first start only.
    const sandbox = await runSandbox({ ...options, port, reset: false }, this.#events, contract, saved)
    this.#run = { options, contract, sandbox }
    this.#withdraw = this.#announce(this.#run)
  }

  async stop(): Promise<void> {
    this.#withdraw()
    await this.#run.sandbox.stop('clean')
  }
}
