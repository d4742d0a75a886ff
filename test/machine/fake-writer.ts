import type { Change } from '../../src/domain/state.js'
import type { ChangeWriter } from '../../src/store/keeper.js'

/** A change, and the number of commands applied before its own. */
export interface Kept {
  readonly change: Change
  readonly at: number
}

export type Fate = 'kept' | 'fails' | 'kept later' | 'fails later'

/** A store in memory, whose writes end as the test wants them to. */
export class FakeWriter implements ChangeWriter {
  /** In the order of the writes. */
  readonly kept: Kept[] = []
  /** Decides the next write. */
  fate: () => Fate = () => 'kept'
  /** Commands so far. */
  now = 0
  failures = 0
  #taken: Kept[] = []
  #release: (() => void)[] = []

  take(change: Change): void {
    this.#taken.push({ change, at: this.now })
  }

  write(): Promise<void> | undefined {
    const [taken, fate] = [this.#taken, this.fate()]
    this.drop()
    const end = () => {
      if (fate.startsWith('fails')) {
        this.failures++
        throw new Error('the disk is full')
      }
      this.kept.push(...taken)
    }
    if (fate.endsWith('later')) return new Promise<void>((resolve) => this.#release.push(resolve)).then(end)
    end()
    return undefined
  }

  drop(): void {
    this.#taken = []
  }

  /** Ends all pending writes. */
  release(): void {
    for (const resolve of this.#release.splice(0)) resolve()
  }
}
