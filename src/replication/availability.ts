import type { LogWatcher } from './command-log.js'

/** Whether all parts of a log can be used, told as one: each change once. */
export class Availability {
  readonly #watcher: LogWatcher
  /** Why parts cannot be used. */
  readonly #reasons = new Map<object, string>()
  #told: string | undefined
  #isOver = false

  constructor(watcher: LogWatcher) {
    this.#watcher = watcher
  }

  /** One more part, which can be used until it says otherwise. */
  part(): LogWatcher {
    const part = {}
    return {
      available: () => {
        this.#reasons.delete(part)
        this.#tell()
      },
      unavailable: (reason) => {
        this.#reasons.set(part, reason)
        this.#tell()
      },
    }
  }

  /** Tells nothing more. */
  end(): void {
    this.#isOver = true
  }

  #tell(): void {
    if (this.#isOver) return
    const [reason] = this.#reasons.values()
    if (reason === this.#told) return
    this.#told = reason
    if (reason === undefined) this.#watcher.available()
    else this.#watcher.unavailable(reason)
  }
}
