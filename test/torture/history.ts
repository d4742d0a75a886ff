import type { Trial } from './trial.js'

/** A sent pet and its response. */
interface SentPet {
  readonly text: string
  /** Time in this process, in milliseconds. */
  readonly sentAt: number
  acknowledged: { readonly at: number; readonly id: string } | undefined
}

export interface HeardPet {
  readonly id: number
  readonly name: string
  readonly categoryId: number
  readonly status?: string
}

/**
 * What clients have sent and heard of one space, and whether that can be true: one
 * sandbox that does one thing after the other must have been able to say it.
 */
export class SpaceHistory {
  readonly #trial: Trial
  readonly #space: string
  /** By name, which no two pets share. */
  readonly #pets = new Map<string, SentPet>()

  constructor(trial: Trial, space: string) {
    this.#trial = trial
    this.#space = space
  }

  get size(): number {
    return this.#pets.size
  }

  get acknowledged(): number {
    return [...this.#pets.values()].filter(({ acknowledged }) => acknowledged !== undefined).length
  }

  /** @returns a function to call with the acknowledged pet */
  send(pet: Omit<HeardPet, 'id'>): (answer: HeardPet) => void {
    const sent: SentPet = { text: textOf(pet), sentAt: performance.now(), acknowledged: undefined }
    this.#pets.set(pet.name, sent)
    return (answer) => {
      sent.acknowledged = { at: performance.now(), id: String(answer.id) }
      if (textOf(answer) !== sent.text) this.#lose(`201 says ${JSON.stringify(answer)}, sent was ${sent.text}`)
    }
  }

  /** An acknowledged pet; undefined before the first. */
  oneAcknowledged(): { readonly id: string; readonly text: string } | undefined {
    const all = [...this.#pets.values()]
    const { text, acknowledged } = this.#trial.oneOf(all.length === 0 ? [undefined] : all) ?? {}
    return text === undefined || acknowledged === undefined ? undefined : { id: acknowledged.id, text }
  }

  /**
   * Checks a list of all pets against those acknowledged before its request.
   *
   * @param askedAt pets acknowledged before must be in the list
   */
  hold(list: readonly HeardPet[], seeds: ReadonlySet<string>, askedAt: number, where: string): void {
    const now = performance.now()
    const seen = new Map<string, string>()
    for (const pet of list) {
      const id = String(pet.id)
      const sent = this.#pets.get(pet.name)
      if (sent === undefined && seeds.has(id)) continue
      if (sent === undefined) this.#lose(`${where} has the pet ${JSON.stringify(pet)}, which nobody sent`)
      else if (seen.has(pet.name)) this.#lose(`${where} has the pet "${pet.name}" twice: ${seen.get(pet.name)}, ${id}`)
      else if (sent.text !== textOf(pet) || sent.sentAt > now) this.#lose(`${where} has ${JSON.stringify(pet)}`)
      else if (sent.acknowledged !== undefined && sent.acknowledged.id !== id) {
        this.#lose(`${where} has the pet "${pet.name}" as ${id}, acknowledged was ${sent.acknowledged.id}`)
      }
      seen.set(pet.name, id)
    }
    for (const [name, { acknowledged }] of this.#pets) {
      if (acknowledged !== undefined && acknowledged.at < askedAt && !seen.has(name)) {
        this.#lose(`${where} misses the pet "${name}", acknowledged ${Math.round(askedAt - acknowledged.at)} ms before`)
      }
    }
    this.#trial.survive()
  }

  /** Checks that a pet sent after the response to another has the higher id. */
  holdOrder(): void {
    const all = [...this.#pets.values()].flatMap(({ sentAt, acknowledged }) =>
      acknowledged === undefined ? [] : [{ sentAt, ...acknowledged }],
    )
    const bySending = all.toSorted((a, b) => a.sentAt - b.sentAt)
    const byAnswer = all.toSorted((a, b) => a.at - b.at)
    let highest = 0
    let answered = 0
    for (const { sentAt, id } of bySending) {
      for (let next = byAnswer[answered]; next !== undefined && next.at < sentAt; next = byAnswer[++answered]) {
        highest = Math.max(highest, Number(next.id))
      }
      if (Number(id) <= highest) this.#lose(`the pet ${id} was sent after ${highest} was acknowledged`)
    }
  }

  #lose(what: string): void {
    this.#trial.lose(`space "${this.#space}": ${what}`)
  }
}

/** The responses of one quota, which grants each of its requests once. */
export class QuotaHistory {
  readonly #trial: Trial
  readonly #name: string
  readonly #limit: number
  /** By the remaining requests in the response. */
  readonly #granted = new Set<number>()
  refused = 0
  /** Requests without a response, which may have been charged. */
  unknown = 0

  constructor(trial: Trial, name: string, limit: number) {
    this.#trial = trial
    this.#name = name
    this.#limit = limit
  }

  get granted(): number {
    return this.#granted.size
  }

  grant(remaining: number): void {
    if (this.#granted.has(remaining)) this.#trial.lose(`quota ${this.#name}: granted twice with ${remaining} remaining`)
    this.#granted.add(remaining)
  }

  /** As many 200s as the quota has, less those whose answer was lost. */
  hold(): void {
    const { granted, refused, unknown } = this
    const most = this.#limit
    const isWhole = refused === 0 || granted + unknown >= most
    this.#trial.check(
      granted <= most && isWhole,
      () => `quota ${this.#name}: ${granted} of ${most} granted, ${refused} refused, ${unknown} unknown`,
    )
  }
}

function textOf({ name, categoryId, status }: Omit<HeardPet, 'id'>): string {
  return JSON.stringify([name, categoryId, status ?? null])
}
