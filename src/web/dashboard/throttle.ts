/** Runs an action at a limited rate, however often it is requested. */
export class Throttle {
  readonly #act: () => Promise<void>
  readonly #pauseMs: number
  #isBusy = false
  #isAsked = false

  /** @param pauseMs between the end of one and the start of the next */
  constructor(pauseMs: number, act: () => Promise<void>) {
    this.#pauseMs = pauseMs
    this.#act = act
  }

  /** Asks for it: at once, or when the pause is over. */
  ask(): void {
    this.#isAsked = true
    if (!this.#isBusy) void this.#work()
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    while (this.#isAsked) {
      this.#isAsked = false
      await this.#act()
      await new Promise((resolve) => setTimeout(resolve, this.#pauseMs))
    }
    this.#isBusy = false
  }
}
