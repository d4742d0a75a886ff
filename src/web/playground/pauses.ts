import type { DurationMs } from '../../domain/time.js'

interface Pause {
  readonly endsAt: number
  readonly end: () => void
  timer: ReturnType<typeof setTimeout>
}

/** Waits of the sample client, by a time of its own that can be moved on with the clock. */
export class Pauses {
  readonly #all = new Set<Pause>()
  #ahead: DurationMs = 0

  /** In milliseconds; it only goes forward. */
  now(): number {
    return performance.now() + this.#ahead
  }

  /** Waits; no longer than until the signal is aborted. */
  wait(length: DurationMs, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(pause.timer)
        this.#all.delete(pause)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const pause: Pause = { endsAt: this.now() + length, end, timer: setTimeout(end, length) }
      this.#all.add(pause)
      signal.addEventListener('abort', end)
    })
  }

  /** Waits no longer for anything. */
  endAll(): void {
    for (const { end } of [...this.#all]) end()
  }

  advance(by: DurationMs): void {
    this.#ahead += by
    for (const pause of this.#all) {
      clearTimeout(pause.timer)
      pause.timer = setTimeout(pause.end, Math.max(0, pause.endsAt - this.now()))
    }
  }
}
