import type { Entry, LogFollower, LogWatcher } from '../../src/replication/command-log.js'

export class RecordingFollower implements LogFollower {
  readonly received: Entry[] = []
  lostFor: string | undefined
  #waiting: (() => void)[] = []

  entries(entries: readonly Entry[]): void {
    if (this.lostFor !== undefined) throw new Error('entries after the loss')
    if (entries.length === 0) throw new Error('an empty batch of entries')
    this.received.push(...entries)
    this.#wake()
  }

  lost(reason: string): void {
    if (this.lostFor !== undefined) throw new Error('lost twice')
    this.lostFor = reason
    this.#wake()
  }

  /** Resolves with all texts once there are at least `count`. */
  async texts(count: number): Promise<readonly string[]> {
    await this.#until(() => this.received.length >= count)
    return this.received.map(({ text }) => text)
  }

  async loss(): Promise<string> {
    await this.#until(() => this.lostFor !== undefined)
    return this.lostFor ?? ''
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

/** Records availability: `+`, or the reason. */
export class RecordingWatcher implements LogWatcher {
  readonly reports: string[] = []
  #waiting: (() => void)[] = []

  available(): void {
    this.#report('+')
  }

  unavailable(reason: string): void {
    this.#report(reason)
  }

  /** Resolves once the last record matches. */
  async until(matches: (last: string) => boolean): Promise<string> {
    for (;;) {
      const last = this.reports.at(-1)
      if (last !== undefined && matches(last)) return last
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #report(text: string): void {
    this.reports.push(text)
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export const isUp = (report: string): boolean => report === '+'
export const isDown = (report: string): boolean => report !== '+'
