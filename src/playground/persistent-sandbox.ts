import { openWithCore, type WithCore } from '../browser/with-core.js'
import { CONTROL_PATH, isControl } from '../control/path.js'
import type { EpochMs } from '../domain/time.js'
import type { Keeping, TimedResponse } from '../web/playground/worker-messages.js'
import { StateDatabase } from './state-database.js'
import { TimedClients } from './timed-clients.js'
import { Writes } from './writes.js'

/** The whole state is written after each change, and the log is most of it. */
const LOG_LIMIT = 400
const SEED = 1
/** Methods that change nothing but quotas, the log and conduct. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const SHUTDOWN = `${CONTROL_PATH}/shutdown`
const TAKEN_OVER = 'A newer version of the playground has taken over.'

interface Running extends WithCore {
  readonly clients: TimedClients
  readonly writes: Writes
  isOurs: boolean
}

export class PersistentSandbox {
  readonly #name: string
  readonly #report: (keeping: Keeping) => void
  #running: Promise<Running> | undefined
  #keeping: Keeping = { place: 'browser', notice: undefined }

  /** @param name of its database @param report called when the storage changes */
  constructor(name: string, report: (keeping: Keeping) => void) {
    this.#name = name
    this.#report = report
  }

  async keeping(): Promise<Keeping> {
    await this.#start()
    return this.#keeping
  }

  /**
   * Changes are written before the response leaves; changes by reads (quotas, log, conduct) within about a second.
   *
   * @throws TypeError where the connection is to break
   */
  async answer(request: Request, keepAlive: (work: Promise<unknown>) => void): Promise<Response> {
    const running = await this.#start()
    const { sandbox, writes } = running
    const { pathname } = new URL(request.url)
    // Reading the control plane changes nothing.
    if (!isControl(pathname)) keepAlive(writes.later())
    // A request whose connection breaks may also have changed something.
    const [result] = await Promise.allSettled([sandbox.fetch(request, { relayed: true })])
    if (!READING.has(request.method)) await writes.now()
    // The next request starts it again.
    if (pathname === SHUTDOWN && request.method === 'POST') this.#running = undefined
    if (!running.isOurs) throw new TypeError(TAKEN_OVER)
    if (result.status === 'rejected') throw result.reason
    return result.value
  }

  /** @throws ControlError if the space's clock is past that instant */
  async send(space: string, at: EpochMs, keepAlive: (work: Promise<unknown>) => void): Promise<TimedResponse> {
    const { clients, writes, isOurs } = await this.#start()
    if (!isOurs) throw new TypeError(TAKEN_OVER)
    keepAlive(writes.later())
    return clients.send(space, at)
  }

  /** Ends everything for the worker that takes over. Browsers let an old worker finish, for minutes if need be. */
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
    const { database, state } = await StateDatabase.takeOver(this.#name).catch((error: unknown) => {
      this.#keepInMemory(error)
      return { database: undefined, state: undefined }
    })
    const opened = await this.#restored(state)
    const write = async () => {
      if (database === undefined || this.#keeping.place === 'memory') return
      try {
        if (!(await database.write(await opened.save()))) running.isOurs = false
      } catch (error) {
        this.#keepInMemory(error)
      }
    }
    const running: Running = {
      ...opened,
      clients: new TimedClients(opened),
      writes: new Writes(write),
      isOurs: true,
    }
    return running
  }

  async #restored(state: unknown): Promise<WithCore> {
    const options = { logLimit: LOG_LIMIT, seed: SEED }
    if (!(state instanceof Uint8Array)) return openWithCore(options)
    try {
      return await openWithCore({ ...options, restore: state })
    } catch (error) {
      this.#setKeeping({
        place: this.#keeping.place,
        notice: `This version cannot read what the last one has kept (${String(error)}). The sandbox has started afresh.`,
      })
      return openWithCore(options)
    }
  }

  #keepInMemory(error: unknown): void {
    this.#setKeeping({
      place: 'memory',
      notice: `This browser keeps nothing for the page (${String(error)}). The sandbox works, but starts afresh whenever the browser ends it, which it does when no page uses it.`,
    })
  }

  #setKeeping(keeping: Keeping): void {
    this.#keeping = keeping
    this.#report(keeping)
  }
}
