import type { Conduct } from '../../conduct/conduct-view.js'
import type { OptionalInput, VerbName } from '../../control/verb-map.js'
import type { StateView } from '../../control/views.js'
import { callVerb, followExchanges } from '../dashboard/api.js'
import { hearClock, type LocalClock } from '../dashboard/local-clock.js'
import { Observable } from '../dashboard/store.js'
import { Throttle } from '../dashboard/throttle.js'

interface View {
  /** Undefined before they are known. */
  readonly state: StateView | undefined
  readonly clock: LocalClock | undefined
  readonly conduct: Conduct | undefined
  /** Why the last switch was refused. */
  readonly error: string | undefined
}

const READ_PAUSE_MS = 250
const TRY_AGAIN_MS = 1000

/** What the sandbox says of itself, kept up to date by its stream: other tabs use the same one. */
export class SandboxView {
  readonly store = new Observable<View>({ state: undefined, clock: undefined, conduct: undefined, error: undefined })
  readonly #reading = new Throttle(READ_PAUSE_MS, () => this.#read())

  /** Follows as long as the page lives. The browser may end the worker, and the stream with it; asking again starts it. */
  async follow(): Promise<void> {
    for (;;) {
      try {
        const events = await followExchanges('', new AbortController().signal)
        this.#reading.ask()
        for await (const heard of events) if (heard.length > 0) this.#reading.ask()
      } catch {
        // Whatever it was, asking again shows whether it is over.
      }
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
    }
  }

  /** Does a verb to the sandbox, and shows what has become of it. */
  async call<Name extends VerbName>(verb: Name, ...input: OptionalInput<Name>): Promise<void> {
    try {
      await callVerb(verb, '', ...input)
      this.store.set({ error: undefined })
    } catch (error) {
      this.store.set({ error: error instanceof Error ? error.message : String(error) })
    }
    await this.#read()
  }

  async #read(): Promise<void> {
    try {
      const [state, conduct] = await Promise.all([callVerb('state', ''), callVerb('conduct', '')])
      this.store.set({ state, conduct, clock: hearClock(state.clock, performance.now()) })
    } catch {
      // The stream will end, too, and be opened again.
    }
  }
}
