import type { Change } from '../../src/domain/state.js'
import type { ChangeWriter } from '../../src/store/keeper.js'

/** A change, and how many commands were applied before the one that brought it. */
export interface Kept {
  readonly change: Change
  readonly at: number
}

/** What becomes of a write. */
export type Fate = 'kept' | 'fails' | 'kept later' | 'fails later'

/** A store in memory, whose writes end as the test wants them to. */
export class FakeWriter implements ChangeWriter {
  /** In the order in which they were written. */
  readonly kept: Kept[] = []
  /** What becomes of the next write. */
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
    const taken = this.#taken
    const fate = this.fate()
    const fails = fate === 'fails' || fate === 'fails later'
    this.drop()
    const end = () => {
      if (!fails) this.kept.push(...taken)
      else {
        this.failures++
        throw new Error('the disk is full')
      }
    }
    if (fate === 'kept' || fate === 'fails') {
      end()
      return undefined
    }
    return new Promise<void>((resolve) => this.#release.push(resolve)).then(end)
  }

  drop(): void {
    this.#taken = []
  }

  /** Lets what is being written come to its end. */
  release(): void {
    for (const resolve of this.#release.splice(0)) resolve()
  }
}
