import type { EngineRequest } from '../../contract/engine.js'
import { excerpt, quote } from '../../contract/excerpt.js'
import { readPairs } from '../../contract/query.js'
import { isId, isObject } from '../../drift/bodies.js'

type Item = Readonly<Record<string, unknown>>
type Id = number | bigint | string

/** What is known of the items of one collection. */
interface Collection {
  /** Those of lists and of writes, by their id as text. */
  readonly items: Map<string, Item>
  readonly ids: Id[]
  created: Id | undefined
  /** The list that was asked for with nothing said. */
  whole: readonly Item[] | undefined
}

/** An id to ask for, and what that is called in the report. */
export interface FurtherId {
  readonly name: string
  readonly id: Id
}

/**
 * The items that answers have shown, by the path of their list: what one answer
 * shows, another must not contradict. Nothing but its status may change of an item while others write, too.
 */
export class SeenItems {
  readonly #collections = new Map<string, Collection>()

  firstId(path: string): Id | undefined {
    return this.#collections.get(path)?.ids[0]
  }

  /** Ids besides the first that are worth asking for: one beyond 2^53, and that of what was created last. */
  furtherIds(path: string): readonly FurtherId[] {
    const { ids = [], created } = this.#collections.get(path) ?? {}
    const long = ids.find((id, place) => place > 0 && typeof id === 'bigint')
    return [
      ...(long === undefined ? [] : [{ name: 'an id beyond 2^53', id: long }]),
      ...(created === undefined ? [] : [{ name: 'what was created', id: created }]),
    ]
  }

  sawList(path: string, request: EngineRequest, body: unknown): void {
    if (!Array.isArray(body)) return
    const listed = body.filter(isObject)
    const collection = this.#open(path)
    for (const item of listed) remember(collection, item)
    if (request.query === '') collection.whole = listed
  }

  sawCreated(path: string, body: unknown): void {
    if (!isObject(body) || !isId(body.id)) return
    const collection = this.#open(path)
    remember(collection, body)
    collection.created = body.id
  }

  /** Finds what an answer shows otherwise than those before it. */
  contradictions(path: string, request: EngineRequest, body: unknown): readonly string[] {
    const collection = this.#collections.get(path)
    if (collection === undefined) return []
    if (Array.isArray(body)) {
      const items = body.filter(isObject)
      return [...items.flatMap((item) => changedFields(collection, item)), ...missing(collection, request, items)]
    }
    if (!isObject(body)) return []
    if (request.method !== 'POST') return changedFields(collection, body)
    return isId(body.id) && collection.items.has(String(body.id)) ? [`the id ${body.id} was there already`] : []
  }

  #open(path: string): Collection {
    const known = this.#collections.get(path)
    if (known !== undefined) return known
    const opened: Collection = { items: new Map(), ids: [], created: undefined, whole: undefined }
    this.#collections.set(path, opened)
    return opened
  }
}

function remember({ items, ids }: Collection, item: Item): void {
  if (!isId(item.id)) return
  if (!items.has(String(item.id))) ids.push(item.id)
  items.set(String(item.id), item)
}

/** The fields that no operation changes: a status may be another by now. */
function changedFields({ items }: Collection, item: Item): readonly string[] {
  const before = isId(item.id) ? items.get(String(item.id)) : undefined
  if (before === undefined) return []
  return Object.entries(before).flatMap(([name, value]) => {
    if (name === 'status' || typeof value === 'object' || !Object.hasOwn(item, name) || item[name] === value) return []
    return [`${excerpt(name)} of ${item.id} is ${quote(item[name])}, and was ${quote(value)} before`]
  })
}

/** A list of nothing, where another has shown what belongs in it. */
function missing({ whole = [] }: Collection, { query }: EngineRequest, items: readonly Item[]): readonly string[] {
  const filters = readPairs(query).filter(([name]) => name !== 'limit')
  const matching = whole.filter((item) => filters.every(([name, value]) => String(item[name]) === value))
  if (items.length > 0 || matching.length === 0) return []
  return [`nothing is listed, although the list without filters has ${matching.length} of them`]
}
