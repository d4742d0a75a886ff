import type { Entry, LogFollower, LogWatcher } from '../../src/replication/command-log.js'

/** Follows a log and keeps what it hears. */
export class AFollower implements LogFollower {
  readonly heard: Entry[] = []
  lostFor: string | undefined
  #waiting: (() => void)[] = []

  entries(entries: readonly Entry[]): void {
    if (this.lostFor !== undefined) throw new Error('there came entries after the loss')
    if (entries.length === 0) throw new Error('there came no entries')
    this.heard.push(...entries)
    this.#wake()
  }

  lost(reason: string): void {
    if (this.lostFor !== undefined) throw new Error('it was lost twice')
    this.lostFor = reason
    this.#wake()
  }

  /** The texts heard, once there are so many. */
  async texts(count: number): Promise<readonly string[]> {
    await this.#until(() => this.heard.length >= count)
    return this.heard.map(({ text }) => text)
  }

  /** Why it was lost, once it was. */
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

/** Hears whether a log can be used: `+`, or why not. */
export class AWatcher implements LogWatcher {
  readonly told: string[] = []
  #waiting: (() => void)[] = []

  available(): void {
    this.#tell('+')
  }

  unavailable(reason: string): void {
    this.#tell(reason)
  }

  /** Resolves once the last word is such. */
  async until(word: (told: string) => boolean): Promise<string> {
    for (;;) {
      const last = this.told.at(-1)
      if (last !== undefined && word(last)) return last
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  #tell(word: string): void {
    this.told.push(word)
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export const isUp = (told: string): boolean => told === '+'
export const isDown = (told: string): boolean => told !== '+'
