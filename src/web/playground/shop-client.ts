import type { NewPet, Pet, PetStatus } from '../../contract/entities.js'
import { parseJson } from '../../contract/json.js'
import { readRetryAfter } from '../../domain/retry-after.js'
import type { DurationMs } from '../../domain/time.js'
import { type Outcome, outcomeOf } from '../dashboard/outcome.js'
import { Observable } from '../dashboard/store.js'
import { Pauses } from './pauses.js'
import { POLICIES, type PolicyName } from './policies.js'

/** One try of a request, as it ended. */
export interface Try {
  readonly number: number
  readonly outcome: Outcome
  /** `429 rate_limit_exceeded`, or why nothing came. */
  readonly text: string
}

/** What the client is waiting for. */
interface Waiting {
  /** By the client's own time. */
  readonly until: number
  /** How often it has tried. */
  readonly tries: number
}

interface ClientState {
  readonly key: string
  readonly policy: PolicyName
  /** Requests a second, at most: the next one is sent when the last one is over. */
  readonly rate: number
  readonly filter: PetStatus | undefined
  readonly isLooping: boolean
  /** The last ones, oldest first. */
  readonly tries: readonly Try[]
  readonly counts: Readonly<Record<Outcome, number>>
  readonly waiting: Waiting | undefined
  /** As last listed, undefined before that. */
  readonly pets: readonly Pet[] | undefined
  /** What the last request came to, where that was no answer to show. */
  readonly error: string | undefined
}

/** More than fit on the strip of any screen. */
const TRIES_KEPT = 90
const MOST_TRIES = 5
const PETS_SHOWN = 12
const NOTHING_YET: Readonly<Record<Outcome, number>> = { answered: 0, refused: 0, limited: 0, failed: 0, cut: 0 }

/** What came of a request at last: its JSON, or why there is none. */
type Result = { readonly kind: 'done'; readonly body: string } | { readonly kind: 'failed'; readonly why: string }

/** The client of a small shop: lists and adds pets, now and then or in a loop, and retries by a policy. */
export class ShopClient {
  readonly store = new Observable<ClientState>({
    key: 'sandbox-free',
    policy: 'none',
    rate: 2,
    filter: undefined,
    isLooping: false,
    tries: [],
    counts: NOTHING_YET,
    waiting: undefined,
    pets: undefined,
    error: undefined,
  })
  readonly pauses = new Pauses()
  readonly #service: string
  #looping = new AbortController()
  #number = 0
  /** Aborted by the next request that somebody makes by hand: what it waited for is wanted no more. */
  #byHand = new AbortController()

  /** @param service base address: `../v1` */
  constructor(service: string) {
    this.#service = service
  }

  change(change: Partial<Pick<ClientState, 'key' | 'policy' | 'rate'>>): void {
    this.store.set(change)
  }

  /** Shows pets of one status, or all. */
  show(filter: PetStatus | undefined): Promise<void> {
    this.store.set({ filter })
    return this.refresh()
  }

  /** Lists the pets again. */
  refresh(): Promise<void> {
    this.#byHand.abort()
    this.#byHand = new AbortController()
    return this.#list(this.#byHand.signal)
  }

  /** Adds a pet. @returns whether it is there now */
  async add(pet: NewPet): Promise<boolean> {
    this.#byHand.abort()
    this.#byHand = new AbortController()
    const { signal } = this.#byHand
    const body = JSON.stringify(pet)
    const result = await this.#send(
      'pets',
      { method: 'POST', body, headers: { 'content-type': 'application/json' } },
      signal,
    )
    this.store.set({ error: result.kind === 'failed' ? result.why : undefined })
    if (result.kind === 'failed') return false
    await this.#list(signal)
    return true
  }

  /** Lists the pets over and over. */
  async start(): Promise<void> {
    this.#looping.abort()
    this.#looping = new AbortController()
    const { signal } = this.#looping
    this.store.set({ isLooping: true, tries: [], counts: NOTHING_YET })
    while (!signal.aborted) {
      await this.#list(signal)
      await this.pauses.wait(1000 / this.store.get().rate, signal)
    }
  }

  stop(): void {
    this.#looping.abort()
    this.store.set({ isLooping: false })
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { filter } = this.store.get()
    const query = new URLSearchParams({
      limit: String(PETS_SHOWN),
      ...(filter === undefined ? {} : { status: filter }),
    })
    const result = await this.#send(`pets?${query}`, {}, signal)
    if (signal.aborted) return
    if (result.kind === 'failed') this.store.set({ error: result.why })
    else this.store.set({ error: undefined, pets: parseJson(result.body) as readonly Pet[] })
  }

  /** Sends a request until it is answered, or the policy gives up. */
  async #send(path: string, init: RequestInit, signal: AbortSignal): Promise<Result> {
    for (let tries = 1; ; tries++) {
      const { result, isWorthIt, asked } = await this.#try(path, init)
      if (!isWorthIt || tries === MOST_TRIES || signal.aborted) return result
      const wait = POLICIES[this.store.get().policy].wait({ tries, asked, luck: Math.random() })
      if (wait === undefined) return result
      const waiting: Waiting = { until: this.pauses.now() + wait, tries }
      this.store.set({ waiting, ...(result.kind === 'failed' ? { error: result.why } : {}) })
      await this.pauses.wait(wait, signal)
      if (this.store.get().waiting === waiting) this.store.set({ waiting: undefined })
      if (signal.aborted) return result
    }
  }

  async #try(
    path: string,
    init: RequestInit,
  ): Promise<{ readonly result: Result; readonly isWorthIt: boolean; readonly asked: DurationMs | undefined }> {
    const headers = { ...init.headers, authorization: `Bearer ${this.store.get().key}` }
    try {
      const response = await fetch(`${this.#service}/${path}`, { ...init, headers, cache: 'no-store' })
      const { status, ok } = response
      const body = await response.text()
      const error = ok ? undefined : errorIn(body)
      this.#note(outcomeOf({ status }), error === undefined ? String(status) : `${status} ${error.code}`)
      const asked = readRetryAfter(
        response.headers.get('retry-after') ?? undefined,
        response.headers.get('date') ?? undefined,
        undefined,
      )
      return {
        result: ok ? { kind: 'done', body } : { kind: 'failed', why: `${status}: ${error?.message ?? 'no message'}` },
        isWorthIt: status === 429 || status >= 500,
        asked,
      }
    } catch (error) {
      this.#note('cut', `no answer: ${String(error)}`)
      return {
        result: { kind: 'failed', why: `No answer: ${error instanceof Error ? error.message : String(error)}.` },
        isWorthIt: true,
        asked: undefined,
      }
    }
  }

  #note(outcome: Outcome, text: string): void {
    const { tries, counts } = this.store.get()
    this.#number++
    this.store.set({
      tries: [...tries, { number: this.#number, outcome, text }].slice(-TRIES_KEPT),
      counts: { ...counts, [outcome]: counts[outcome] + 1 },
    })
  }
}

/** What an error body says; undefined for a body that is none, as a storm may send. */
function errorIn(body: string): { readonly code: string; readonly message: string } | undefined {
  try {
    const { code, message }: { readonly code?: unknown; readonly message?: unknown } = JSON.parse(body)
    return typeof code === 'string' && typeof message === 'string' ? { code, message } : undefined
  } catch {
    return undefined
  }
}
