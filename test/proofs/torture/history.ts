import type { Int64 } from '../../../src/contract/int64.js'
import { parseJson, stringifyJson } from '../../../src/contract/json.js'
import { ask, type Heard } from './client.js'
import type { Trial } from './trial.js'

interface NewPet {
  readonly name: string
  readonly categoryId: Int64
  readonly status?: string
}

export type Pet = NewPet & { readonly id: Int64 }

interface SentPet {
  readonly text: string
  /** Time in this process, in milliseconds. */
  readonly sentAt: number
  acknowledged?: { readonly at: number; readonly id: string }
  isRefused?: true
}

/**
 * What clients have sent and heard of one space, and whether that can be true: one
 * sandbox that does one thing after the other must have been able to say it.
 */
export class History {
  readonly #trial: Trial
  readonly #space: string
  readonly #seeds: ReadonlyMap<string, string>
  /** By name, which no two pets share. */
  readonly #pets = new Map<string, SentPet>()

  /** @param seeds pets that were there before the first write */
  constructor(trial: Trial, seeds: readonly Pet[], space = '') {
    this.#trial = trial
    this.#seeds = new Map(seeds.map((pet) => [String(pet.id), textOf(pet)]))
    this.#space = space
  }

  get size(): number {
    return this.#pets.size
  }

  get acknowledged(): readonly { readonly id: string; readonly text: string }[] {
    return [...this.#pets.values()].flatMap(({ text, acknowledged }) =>
      acknowledged === undefined ? [] : [{ id: acknowledged.id, text }],
    )
  }

  /** Adds a pet, and takes the response down. */
  async add(pet: NewPet, send: (body: string) => Promise<Heard>): Promise<Heard> {
    const sent: SentPet = { text: textOf(pet), sentAt: performance.now() }
    this.#pets.set(pet.name, sent)
    const heard = await send(stringifyJson(pet))
    if (typeof heard === 'string') return heard
    if (heard.status >= 300) sent.isRefused = true
    else {
      const kept = parseJson(heard.body) as Pet
      sent.acknowledged = { at: performance.now(), id: String(kept.id) }
      if (textOf(kept) !== sent.text) this.#lose(`a pet was acknowledged as ${heard.body}, sent was ${sent.text}`)
    }
    return heard
  }

  /**
   * Checks a list of all pets.
   *
   * @param askedAt pets acknowledged before must be in the list
   * @param isAnswered a pet without a response is a loss
   * @param isPage the oldest pets may be missing
   */
  hold(list: readonly Pet[], askedAt: number, where: string, { isAnswered = false, isPage = false } = {}): void {
    const seen = new Map(list.map((pet) => [pet.name, String(pet.id)]))
    const ids = new Map(list.map((pet) => [String(pet.id), textOf(pet)]))
    if (ids.size < list.length) this.#lose(`${where} has a pet twice: ${list.map(({ id }) => id)}`)
    for (const [id, text] of this.#seeds)
      if (isPage ? (ids.get(id) ?? text) !== text : ids.get(id) !== text)
        this.#lose(`${where} has the pet ${id} of the start as ${ids.get(id)}, it was ${text}`)
    for (const pet of list) {
      const id = String(pet.id)
      const sent = this.#pets.get(pet.name)
      if (sent === undefined && this.#seeds.has(id)) continue
      const is = `${where} has the pet ${id} ${textOf(pet)}`
      if (sent?.text !== textOf(pet)) this.#lose(`${is}, which nobody sent`)
      else if (seen.get(pet.name) !== id) this.#lose(`${is} twice, once more as ${seen.get(pet.name)}`)
      else if (sent.isRefused) this.#lose(`${is}, which was refused`)
      else if (sent.acknowledged === undefined ? isAnswered : sent.acknowledged.id !== id)
        this.#lose(`${is}, acknowledged was ${sent.acknowledged?.id}`)
    }
    for (const [name, { acknowledged }] of this.#pets) {
      if (acknowledged !== undefined && acknowledged.at < askedAt && !seen.has(name))
        this.#lose(`${where} misses the pet "${name}", acknowledged ${Math.round(askedAt - acknowledged.at)} ms before`)
    }
    this.#trial.survive()
  }

  /** Checks that a pet sent after the response to another has the higher id. */
  holdOrder(): void {
    const events = [...this.#pets.values()].flatMap(({ sentAt, acknowledged }) => {
      if (acknowledged === undefined) return []
      const id = Number(acknowledged.id)
      return [
        { id, at: sentAt, isSent: true },
        { id, at: acknowledged.at, isSent: false },
      ]
    })
    let highest = 0
    for (const { id, isSent } of events.toSorted((one, other) => one.at - other.at)) {
      if (!isSent) highest = Math.max(highest, id)
      else if (id <= highest) this.#lose(`the pet ${id} was sent after ${highest} was acknowledged`)
    }
  }

  #lose(what: string): void {
    this.#trial.lose(`space "${this.#space}": ${what}`)
  }
}

/** A pet digit for digit, without its id, whatever the order of its members. */
function textOf({ name, categoryId, status }: NewPet): string {
  return stringifyJson([name, categoryId, status ?? null])
}

/** All pets of a space, numbers exact; undefined if it is not open. */
export async function pets(port: number, space = ''): Promise<readonly Pet[] | undefined> {
  const heard = await ask(port, 'GET', `/__sandbox/resources/pets${space === '' ? '' : `?space=${space}`}`)
  if (typeof heard !== 'string' && heard.status === 404) return undefined
  if (typeof heard === 'string' || heard.status !== 200)
    throw new Error(`the pets of "${space}" cannot be listed: ${typeof heard === 'string' ? heard : heard.body}`)
  return parseJson(heard.body) as Pet[]
}

/** Checks that an acknowledged pet is as it was. */
export function holdPet(
  trial: Trial,
  { id, text }: { readonly id: string; readonly text: string },
  heard: Heard,
): void {
  const isRight = typeof heard !== 'string' && heard.status === 200 && textOf(parseJson(heard.body) as Pet) === text
  trial.check(isRight, () => `pet ${id} is ${typeof heard === 'string' ? heard : heard.body}, acknowledged was ${text}`)
}
