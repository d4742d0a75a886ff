import type { Contract, Operation } from '../../contract/contract.js'
import type { EngineRequest, EngineResponse } from '../../contract/engine.js'
import { documentedChoices, keyParts } from '../../domain/key-places.js'
import type { Reason } from '../../domain/problems.js'
import { MASK } from '../../domain/redaction.js'
import { addressOf } from '../../domain/space-address.js'
import { ceilSeconds, MINUTE_MS, readRetryAfter, SECOND_MS } from '../../domain/time.js'
import type { Service } from '../exchange.js'
import { NoResponseError } from '../no-response.js'
import { type CountedResponse, readCounted } from './seen-items.js'

const MAX_WAIT_MS = MINUTE_MS
export const MAX_WAITS = 5
/** After this time the Date of a response has moved on. */
const NEXT_SECOND_MS = 1.1 * SECOND_MS
export const WRONG_KEY = 'no-such-key-sent-by-petstore-sandbox-verify'
/** X-Sandbox-Reason of responses that do not come from the service. */
const SIMULATED_REASONS: readonly string[] = [
  'fault',
  'forced',
  'storm',
  'ban',
  'unavailable',
] satisfies readonly Reason[]

export type ProbeResult = EngineResponse | { readonly outcome: 'skipped' | 'unanswered'; readonly detail: string }

export interface PacedOptions {
  readonly contract: Contract
  readonly service: Service
  readonly apiKey: string | undefined
  wait(milliseconds: number): Promise<void>
  onWait?(seconds: number, request: string, left: number): void
}

/** Hides the key, also as a query has it. */
export function withoutKey(text: string, apiKey: string | undefined): string {
  if (apiKey === undefined || apiKey === 'sandbox') return text
  return text.replaceAll(apiKey, MASK).replaceAll(encodeURIComponent(apiKey), MASK)
}

type OnLimited = (operation: Operation, request: EngineRequest, response: EngineResponse) => void

/** Sends requests with a key, waits when the service says so, and counts the responses. */
export class PacedService {
  readonly #options: PacedOptions
  readonly #onLimited: OnLimited
  readonly #stillLimited = new Set<string | undefined>()
  #wasAnswered = false
  #waits = 0
  readonly counted: CountedResponse[] = []

  /** @param onLimited receives a 429 before the wait */
  constructor(options: PacedOptions, onLimited: OnLimited) {
    this.#options = options
    this.#onLimited = onLimited
  }

  withKey({ keys }: Operation, request: EngineRequest, key: string): EngineRequest {
    const parts = keyParts(documentedChoices(this.#options.contract, keys), key)
    const headers = parts.headers.map(([name, value]) => [name.toLowerCase(), value] as const)
    const query = [request.query, parts.query].filter((part) => part !== '').join('&')
    return { ...request, headers: { ...request.headers, ...Object.fromEntries(headers) }, query }
  }

  #keyOf({ keys }: Operation, { headers, query }: EngineRequest): string | undefined {
    return [this.#options.apiKey, WRONG_KEY].find((key) => {
      if (key === undefined) return false
      const parts = keyParts(documentedChoices(this.#options.contract, keys), key)
      return (
        parts.headers.every(([name, value]) => headers[name.toLowerCase()] === value) && query.includes(parts.query)
      )
    })
  }

  /** Sends a request, and again after a 429 with a short wait. The 429 itself is checked against the contract. */
  async ask(operation: Operation, request: EngineRequest): Promise<ProbeResult> {
    const sentKey = this.#keyOf(operation, request)
    try {
      let response = await this.#options.service.ask(request)
      this.#wasAnswered = true
      if (response.status === 429) {
        this.#onLimited(operation, request, response)
        const pause = waitOf(response)
        if (pause === undefined || pause > MAX_WAIT_MS || this.#stillLimited.has(sentKey)) return limited(pause)
        if (this.#waits === MAX_WAITS) {
          const detail = `not tested: the rate limit is used up again (429) after ${MAX_WAITS} waits`
          return { outcome: 'skipped', detail }
        }
        this.#waits++
        const asked = withoutKey(`${request.method} ${addressOf(request)}`, this.#options.apiKey)
        this.#options.onWait?.(ceilSeconds(pause), asked, MAX_WAITS - this.#waits)
        await this.#options.wait(pause)
        response = await this.#options.service.ask(request)
        if (response.status === 429) {
          this.#stillLimited.add(sentKey)
          return limited(waitOf(response))
        }
      }
      this.#stillLimited.delete(sentKey)
      const reason = response.headers['x-sandbox-reason'] ?? ''
      if (SIMULATED_REASONS.includes(reason))
        return { outcome: 'skipped', detail: `the sandbox simulated the response (${reason})` }
      const count = readCounted(operation.id, request, response)
      const isKeyed = this.#options.apiKey !== undefined && sentKey === this.#options.apiKey
      if (count !== undefined && isKeyed && response.status !== 401) this.counted.push(count)
      return response
    } catch (error) {
      if (!(error instanceof NoResponseError) || !this.#wasAnswered) throw error
      return { outcome: 'unanswered', detail: error.message }
    }
  }

  /** Whether a window goes on although no request was counted in it: with limits turned off, none begins. */
  async hasOpenWindow(request: EngineRequest): Promise<boolean> {
    await this.#options.wait(NEXT_SECOND_MS)
    const response = await this.#options.service.ask(request).catch(() => undefined)
    const now = response && readCounted('', request, response)
    const latest = this.counted.at(-1)
    if (now === undefined || latest === undefined) return false
    return now.date > latest.date && now.limit === latest.limit && now.reset === latest.reset
  }
}

function limited(pause: number | undefined): ProbeResult {
  const until = pause === undefined ? 'without a Retry-After' : `for another ${ceilSeconds(pause)} s`
  return { outcome: 'skipped', detail: `the rate limit is used up (429), ${until}` }
}

/** How long to wait after a 429, by the response's own Date only: this machine's clock may differ. */
function waitOf({ headers }: EngineResponse): number | undefined {
  return readRetryAfter(headers['retry-after'], headers.date, undefined)
}
