import type { Int64 } from '../../src/contract/int64.js'
import { parseJson, stringifyJson } from '../../src/contract/json.js'
import type { Server, Trial } from './trial.js'
import { ask, request, statusOf, Wire } from './wire.js'

/** Limits that no experiment reaches. */
export const UNLIMITED = ['--no-rate-limit', '--log-limit', '0'] as const

interface SentPet {
  readonly name: string
  readonly categoryId: Int64
  readonly status?: string
}

type ListedPet = SentPet & { readonly id: Int64 }

/** How often the text of a pet is also asked for over the service. */
const ASKED_FOR_AGAIN = 20

/** Sent pets and their responses. A store must have exactly the acknowledged ones. */
export class Ledger {
  /** The pets that were there before the first write, by id. */
  readonly #seeds = new Map<string, string>()
  readonly #sent = new Map<string, SentPet>()
  /** Names of pets that were answered with an error: they must not be there. */
  readonly #refused = new Set<string>()
  /** The pets of the 201s, by id. */
  readonly acknowledged = new Map<string, string>()
  #count = 0

  /** Records the pets before the first write. */
  async begin(server: Server): Promise<void> {
    for (const pet of await listed(server)) this.#seeds.set(String(pet.id), exactText(pet))
  }

  /**
   * Adds pets over one connection, one after the other, until `until` says so
   * or the connection ends.
   *
   * @param padding characters that each name is made longer by
   */
  async write(server: Server, until: () => boolean, padding = 0): Promise<void> {
    const wire = await Wire.open(server.port).catch(() => undefined)
    if (wire === undefined) return
    try {
      while (!until() && (await this.writeOne(wire, padding)) !== 'over');
    } finally {
      wire.close()
    }
  }

  async writeOne(wire: Wire, padding = 0): Promise<'kept' | 'refused' | 'over'> {
    const number = this.#count++
    const name = `pet ${number} 🐕${'x'.repeat(padding)}`
    const pet: SentPet = { name, categoryId: 9_223_372_036_854_775_807n - BigInt(number), status: 'sold' }
    this.#sent.set(name, pet)
    wire.send(request('POST', '/v1/pets', { body: stringifyJson(pet) }))
    const heard = await wire.response('POST')
    if (typeof heard === 'string') return 'over'
    if (heard.status === 201) {
      const kept = parseJson(heard.body) as ListedPet
      if (exactText(kept) !== exactText({ id: kept.id, ...pet })) throw new Error(`acknowledged was ${heard.body}`)
      this.acknowledged.set(String(kept.id), exactText(kept))
      return 'kept'
    }
    this.#refused.add(name)
    return 'refused'
  }

  /**
   * Holds a running sandbox against the ledger: every acknowledged pet is there
   * as it was acknowledged, and every pet was sent.
   *
   * @param demandsAnswered a stored pet without a response is a loss
   * @returns how many acknowledged pets are there
   */
  async audit(trial: Trial, server: Server, demandsAnswered = false): Promise<number> {
    const present = new Map((await listed(server)).map((pet) => [String(pet.id), pet]))
    let found = 0
    for (const [id, text] of [...this.#seeds, ...this.acknowledged]) {
      const pet = present.get(id)
      const isSeed = this.#seeds.has(id)
      if (pet !== undefined && exactText(pet) === text) found += isSeed ? 0 : 1
      else trial.lose(`pet ${id} is ${pet === undefined ? 'gone' : exactText(pet)}, it was ${text}`)
      present.delete(id)
    }
    for (const pet of present.values()) {
      const { id } = pet
      const sent = this.#sent.get(pet.name)
      if (sent === undefined || exactText(pet) !== exactText({ id, ...sent })) trial.lose(`nobody sent the pet ${id}`)
      else if (this.#refused.has(pet.name)) trial.lose(`pet ${id} was refused, and is there`)
      else if (demandsAnswered) trial.lose(`pet ${id} was kept, but its client heard nothing`)
    }
    const ids = [...this.acknowledged.keys()]
    for (let i = 0; i < Math.min(ASKED_FOR_AGAIN, ids.length); i++) {
      const id = trial.oneOf(ids)
      const heard = await ask(server.port, 'GET', `/v1/pets/${id}`)
      const isRight = typeof heard !== 'string' && heard.status === 200
      if (!isRight || exactText(parseJson(heard.body) as ListedPet) !== this.acknowledged.get(id)) {
        trial.lose(`GET /v1/pets/${id} gives ${typeof heard === 'string' ? heard : heard.body}`)
      }
    }
    return found
  }
}

/** A pet digit for digit, whatever the order of its members. */
function exactText({ id, name, categoryId, status }: ListedPet): string {
  return stringifyJson([id, name, categoryId, status ?? null])
}

/** All pets of a sandbox, ids and numbers exact. */
async function listed(server: Server): Promise<readonly ListedPet[]> {
  const heard = await ask(server.port, 'GET', '/__sandbox/pets')
  if (typeof heard === 'string' || heard.status !== 200)
    throw new Error(`the pets cannot be listed: ${statusOf(heard)}`)
  return parseJson(heard.body) as ListedPet[]
}
