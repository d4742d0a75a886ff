import type { Operation } from '../../contract/contract.js'
import type { EngineRequest, EngineResponse } from '../../contract/engine.js'
import { excerpt, quote } from '../../contract/excerpt.js'
import { isNode } from '../../contract/json.js'
import { readPairs } from '../../contract/query.js'
import { readHttpDate, SECOND_MS } from '../../domain/time.js'
import { isId } from '../../drift/bodies.js'
import { readLimits } from '../../drift/headers.js'

export type Item = Readonly<Record<string, unknown>>

/** The request whose response had an item, to send it again. */
export interface ItemSource {
  readonly operation: Operation
  readonly request: EngineRequest
}

/** The items of one collection: what one response shows, another must not contradict. */
export class SeenItems {
  /** Without a source: the fields that were sent to create it. */
  readonly #items = new Map<string, { readonly item: Item; readonly source?: ItemSource }>()
  readonly created: Item[] = []
  #whole: readonly Item[] = []

  get ids(): readonly unknown[] {
    return [...this.#items.values()].map(({ item }) => item.id)
  }

  addList(source: ItemSource, body: unknown): void {
    if (!Array.isArray(body)) return
    const listed = body.filter(isNode)
    for (const item of listed) if (isId(item.id)) this.#items.set(String(item.id), { item, source })
    if (source.request.query === '') this.#whole = listed
  }

  addCreated(sent: unknown, body: unknown): void {
    if (!isNode(body) || !isId(body.id)) return
    const kept = Object.entries(body).filter(([name]) => name === 'id' || (isNode(sent) && Object.hasOwn(sent, name)))
    this.#items.set(String(body.id), { item: Object.fromEntries(kept) })
    this.created.push(body)
  }

  /** The source of the first item that has another value in the body. */
  sourceOfChange(body: unknown): ItemSource | undefined {
    const known = (item: Item) => this.#items.get(String(item.id))
    const changed = itemsIn(body).find((item) => changedFields(item, known(item)?.item).length > 0)
    return changed && known(changed)?.source
  }

  contradictions(request: EngineRequest, body: unknown): readonly string[] {
    if (request.method === 'POST' && isNode(body))
      return this.#items.has(String(body.id)) ? [`the id ${String(body.id)} was there already`] : []
    const items = itemsIn(body)
    return [
      ...items.flatMap((item) => this.#changedSinceCreation(item)),
      ...(Array.isArray(body) ? this.#missing(request, items) : []),
    ]
  }

  /** Another client may have changed the status. */
  #changedSinceCreation(item: Item): readonly string[] {
    const { item: created, source } = this.#items.get(String(item.id)) ?? {}
    return (source === undefined ? changedFields(item, created) : [])
      .filter((name) => name !== 'status')
      .map((name) => `${fieldText(item, name)}, and was ${quote(created?.[name])} before`)
  }

  #missing({ query }: EngineRequest, items: readonly Item[]): readonly string[] {
    const filters = readPairs(query).filter(([name]) => name !== 'limit')
    const matching = this.#whole.filter((item) => filters.every(([name, value]) => String(item[name]) === value))
    if (items.length > 0 || matching.length === 0) return []
    return [`the list is empty, but the list without filters has ${matching.length} such items`]
  }
}

/** The objects of a list, or the only one. */
export function itemsIn(body: unknown): readonly Item[] {
  return [body].flat().filter(isNode)
}

/** `name of 59 is "Rex"` */
export function fieldText(item: Item, name: string): string {
  return `${excerpt(name)} of ${String(item.id)} is ${quote(item[name])}`
}

/** The fields, without structured ones, that an item has with another value than before. */
export function changedFields(item: Item, before: Item = {}): readonly string[] {
  return Object.entries(before).flatMap(([name, value]) =>
    typeof value === 'object' || !Object.hasOwn(item, name) || item[name] === value ? [] : [name],
  )
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
