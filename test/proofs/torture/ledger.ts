import { ask, type Client, type Heard } from './client.js'
import { History, holdPet, pets } from './history.js'
import type { Server, Trial } from './trial.js'

/** Limits that no experiment reaches. */
export const UNLIMITED = ['--no-rate-limit', '--log-limit', '0'] as const

/** How many pets are also asked for over the service. */
const ASKED_FOR_AGAIN = 20

/** Sent pets and their responses. A store must have exactly the acknowledged ones. */
export class Ledger {
  readonly #history: History
  #count = 0

  private constructor(history: History) {
    this.#history = history
  }

  /** Begins with the pets before the first write. */
  static async begin(trial: Trial, { port }: Server): Promise<Ledger> {
    return new Ledger(new History(trial, (await pets(port)) ?? []))
  }

  get size(): number {
    return this.#history.acknowledged.length
  }

  /** @param padding characters that the name is made longer by */
  write(client: Client, padding = 0, onSent = () => {}): Promise<Heard> {
    const number = this.#count++
    const name = `pet ${number} 🐕${'x'.repeat(padding)}`
    const pet = { name, categoryId: 9_223_372_036_854_775_807n - BigInt(number), status: 'sold' }
    return this.#history.add(pet, (body) => client.ask('POST', '/v1/pets', { body, onSent }))
  }

  /**
   * Holds a running sandbox against the ledger: every acknowledged pet is there
   * as it was acknowledged, and every pet was sent.
   */
  async audit(trial: Trial, { port }: Server, isAnswered = false): Promise<void> {
    this.#history.hold((await pets(port)) ?? [], performance.now(), 'the store', { isAnswered })
    const acknowledged = this.#history.acknowledged
    for (let i = 0; i < Math.min(ASKED_FOR_AGAIN, acknowledged.length); i++) {
      const pet = trial.oneOf(acknowledged)
      holdPet(trial, pet, await ask(port, 'GET', `/v1/pets/${pet.id}`))
    }
  }
}
