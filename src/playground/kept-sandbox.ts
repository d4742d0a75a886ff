import { type BrowserSandbox, createSandbox } from '../browser/index.js'
import { CONTROL_PATH, isControl } from '../control/path.js'
import type { Keeping } from '../web/playground/worker-messages.js'
import { StateDatabase } from './state-database.js'
import { Writes } from './writes.js'

/** Exchanges that the log keeps: the whole state is written after each change, and they are most of it. */
const LOG_LIMIT = 300

/** Methods of requests that change nothing but quotas, the log and conduct. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

const SHUTDOWN = `${CONTROL_PATH}/shutdown`

interface Running {
  readonly sandbox: BrowserSandbox
  readonly writes: Writes
  /** Whether the state is still its own, and no other worker's. */
  isOurs: boolean
}

/** The one sandbox of a playground, which goes on where the worker before this one has ended. */
export class KeptSandbox {
  readonly #name: string
  readonly #tell: (keeping: Keeping) => void
  #running: Promise<Running> | undefined
  #keeping: Keeping = { place: 'browser', notice: undefined }

  /**
   * @param name of its database
   * @param tell hears when there is something new to say of where the state is kept
   */
  constructor(name: string, tell: (keeping: Keeping) => void) {
    this.#name = name
    this.#tell = tell
  }

  /** Where its state is kept; known once it has started. */
  async keeping(): Promise<Keeping> {
    await this.#start()
    return this.#keeping
  }

  /**
   * Answers a request. What it has changed is kept when the answer leaves; what reading changes (quotas, the log,
   * conduct) within a second or so.
   *
   * @param last makes the browser let the worker live until something is done
   * @returns the answer; rejects with a TypeError where the connection is to break
   */
  async answer(request: Request, last: (work: Promise<unknown>) => void): Promise<Response> {
    const running = await this.#start()
    const { sandbox, writes } = running
    const { pathname } = new URL(request.url)
    // Reading the control plane changes nothing at all.
    if (!isControl(pathname)) last(writes.later())
    // Also one that breaks has been acted upon.
    const answered = await sandbox.fetch(request, { relayed: true }).then(
      (response) => () => response,
      (error: unknown) => () => {
        throw error
      },
    )
    if (!READING.has(request.method)) await writes.now()
    // Stopped as it was asked to, it is started again by the next request.
    if (pathname === SHUTDOWN && request.method === 'POST') this.#running = undefined
    // What it tells of is not what all others see any more.
    if (!running.isOurs) throw new TypeError('A newer version of the playground has taken over.')
    return answered()
  }

  /** Ends all that is under way, for the worker that takes over: browsers let an old one finish, for minutes if need be. */
  async stepAside(): Promise<void> {
    const running = await this.#start()
    running.isOurs = false
    await running.writes.now()
    await running.sandbox.close()
  }

  #start(): Promise<Running> {
    this.#running ??= this.#open()
    return this.#running
  }

  async #open(): Promise<Running> {
    const { database, state } = await this.#takeOver()
    const sandbox = await this.#restored(state)
    const write = async () => {
      if (database === undefined || this.#keeping.place === 'memory') return
      try {
        if (!(await database.write(await sandbox.save()))) running.isOurs = false
      } catch (error) {
        this.#keepInMemory(error)
      }
    }
    const running: Running = { sandbox, writes: new Writes(write), isOurs: true }
    return running
  }

  async #takeOver(): Promise<{ readonly database: StateDatabase | undefined; readonly state: unknown }> {
    try {
      return await StateDatabase.takeOver(this.#name)
    } catch (error) {
      this.#keepInMemory(error)
      return { database: undefined, state: undefined }
    }
  }

  async #restored(state: unknown): Promise<BrowserSandbox> {
    const options = { logLimit: LOG_LIMIT }
    if (!(state instanceof Uint8Array)) return createSandbox(options)
    try {
      return await createSandbox({ ...options, restore: state })
    } catch (error) {
      this.#say({
        place: this.#keeping.place,
        notice: `This version cannot read what the last one has kept (${String(error)}). The sandbox has started afresh.`,
      })
      return createSandbox(options)
    }
  }

  #keepInMemory(error: unknown): void {
    this.#say({
      place: 'memory',
      notice: `This browser keeps nothing for the page (${String(error)}). The sandbox works, but starts afresh whenever the browser ends it, which it does when no page uses it.`,
    })
  }

  #say(keeping: Keeping): void {
    this.#keeping = keeping
    this.#tell(keeping)
  }
}
