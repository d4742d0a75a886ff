import type { EngineRequest, EngineResponse } from '../../contract/engine.js'
import { excerpt, quote } from '../../contract/excerpt.js'
import { isNode } from '../../contract/json.js'
import { readPairs } from '../../contract/query.js'
import { readHttpDate, SECOND_MS } from '../../domain/time.js'
import { isId } from '../../drift/bodies.js'
import { readLimits } from '../../drift/headers.js'

export type Item = Readonly<Record<string, unknown>>

/** The items of one collection: what one response shows, another must not contradict, except an item's status. */
export class SeenItems {
  readonly #items = new Map<string, Item>()
  readonly created: Item[] = []
  #whole: readonly Item[] = []

  get ids(): readonly unknown[] {
    return [...this.#items.values()].map(({ id }) => id)
  }

  hasOtherStatus(body: Item): boolean {
    const before = this.#items.get(String(body.id))
    return before !== undefined && before.status !== body.status
  }

  addList(request: EngineRequest, body: unknown): void {
    if (!Array.isArray(body)) return
    const listed = body.filter(isNode)
    for (const item of listed) this.#add(item)
    if (request.query === '') this.#whole = listed
  }

  addCreated(body: unknown): void {
    if (!isNode(body) || !isId(body.id)) return
    this.#add(body)
    this.created.push(body)
  }

  #add(item: Item): void {
    if (isId(item.id)) this.#items.set(String(item.id), item)
  }

  contradictions(request: EngineRequest, body: unknown): readonly string[] {
    if (Array.isArray(body)) {
      const items = body.filter(isNode)
      return [...items.flatMap((item) => this.#changedFields(item)), ...this.#missing(request, items)]
    }
    if (!isNode(body)) return []
    if (request.method !== 'POST') return this.#changedFields(body)
    return this.#items.has(String(body.id)) ? [`the id ${String(body.id)} was there already`] : []
  }

  #changedFields(item: Item): readonly string[] {
    return Object.entries(this.#items.get(String(item.id)) ?? {}).flatMap(([name, value]) => {
      if (name === 'status' || typeof value === 'object' || !Object.hasOwn(item, name) || item[name] === value)
        return []
      return [`${excerpt(name)} of ${String(item.id)} is ${quote(item[name])}, and was ${quote(value)} before`]
    })
  }

  #missing({ query }: EngineRequest, items: readonly Item[]): readonly string[] {
    const filters = readPairs(query).filter(([name]) => name !== 'limit')
    const matching = this.#whole.filter((item) => filters.every(([name, value]) => String(item[name]) === value))
    if (items.length > 0 || matching.length === 0) return []
    return [`the list is empty, but the list without filters has ${matching.length} such items`]
  }
}

/** The rate limits of one response to the key. Times are seconds since the Unix epoch. */
export interface CountedResponse {
  readonly operation: string
  readonly request: EngineRequest
  readonly limit: number
  readonly remaining: number
  readonly reset: number
  readonly date: number
}

/** Two requests this close to the end of a window may be in different ones. */
const STEADY_SECONDS = 2

export function readCounted(
  operation: string,
  request: EngineRequest,
  { headers }: EngineResponse,
): CountedResponse | undefined {
  const { limit, remaining, reset } = readLimits(headers)
  const date = (readHttpDate(headers.date) ?? Number.NaN) / SECOND_MS
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined
  return { operation, request, limit, remaining, reset, date }
}

/** Remaining may fall by more than one: others may use the key. @source docs/specification.md, "Rate limits" */
export function findUncounted(
  all: readonly CountedResponse[],
): (CountedResponse & { readonly detail: string }) | undefined {
  // By limit and reset: the headers show the minute's window or the day's.
  const last = new Map<string, CountedResponse>()
  for (const counted of all) {
    const { limit, remaining, reset, date } = counted
    const before = last.get(`${limit} ${reset}`)
    if (before !== undefined && remaining >= before.remaining && !(reset - date < STEADY_SECONDS)) {
      const detail = `X-RateLimit-Remaining is ${remaining} after ${before.remaining}, in the same window: the request was not counted`
      return { ...counted, detail }
    }
    last.set(`${limit} ${reset}`, counted)
  }
  return undefined
}
