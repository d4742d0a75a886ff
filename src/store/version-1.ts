import * as v from 'valibot'
import type { ResourceData } from '../contract/resource-data.js'
import { parentField } from '../contract/resource-data.js'
import type { SavedRecords } from '../domain/records.js'
import { recordSchema } from '../domain/schemas.js'
import type { Change, StoredState } from '../domain/state.js'
import { type Content, type Layout, readRecords, type StoredResource } from './layout.js'
import { anyList, apiKey, check, fields, int64, list, record, text, wholeNumber } from './shape.js'

// Reads what releases until 0.1 wrote: pets and orders had fields of their own, and all other records `records`. A start
// folds document, journal and snapshots into the present form, so that no other file needs to know this one.

/** Of the journal. */
export const JOURNAL_VERSION_1 = 4

/** Copies of the files are kept under this ending. */
export const VERSION_1 = 'version-1'

const scopes = list(list(text))
const savedRecords = fields({ idProperty: text, nextId: int64, values: list(record), scopes: v.optional(scopes) })
const state = fields({
  version: v.optional(v.literal(1)),
  nextPetId: int64,
  pets: anyList,
  orders: list(record),
  keys: list(apiKey),
  records: v.optional(recordSchema(v.string(), savedRecords, 'an object')),
})

export function isVersion1(content: Content): boolean {
  return content.version === 1 && 'nextPetId' in content
}

/** @throws CorruptionError */
export function readVersion1(content: unknown, layout: Layout): StoredState {
  const { nextPetId, pets, orders, keys, records = {} } = check(state, check(record, content, 'the document'), '')
  const own = resourcesOf(layout)
  const read: [string, SavedRecords][] = []
  const addList = (name: 'pets' | 'orders', values: readonly unknown[], next?: SavedRecords['nextId']) => {
    const resource = own.list(name)
    if (resource !== undefined) read.push([resource.name, readRecords(resource, values, name, next)])
  }
  addList('pets', pets, nextPetId)
  addList('orders', orders)
  for (const [name, { scopes, ...saved }] of Object.entries(records)) {
    const { name: now, id } = own.find(name, saved.idProperty, scopes?.[0]?.length ?? 0)
    read.push([now, { ...saved, idProperty: id.property, ...(scopes && { scopes }) }])
  }
  return { records: read, others: [], keys }
}

const entry = fields({ scope: list(text), value: record })
const rank = v.exactOptional(wholeNumber)
const change = v.variant(
  'kind',
  [
    fields({ kind: v.literal('pet'), pet: record, rank }),
    fields({ kind: v.literal('pet-removed'), id: int64 }),
    fields({ kind: v.literal('record'), resource: text, idProperty: text, entry, rank }),
    fields({ kind: v.literal('record-removed'), resource: text, scope: list(text), id: text }),
    fields({ kind: v.literal('key'), key: apiKey }),
    fields({ kind: v.literal('key-removed'), key: text }),
    fields({ kind: v.literal('replaced'), state: v.unknown() }),
  ],
  'a change',
)

/** @throws CorruptionError */
export function readChange1(content: unknown, layout: Layout): readonly Change[] {
  const read = check(change, content, '')
  const own = resourcesOf(layout)
  switch (read.kind) {
    case 'pet': {
      const resource = own.list('pets')?.name
      const { rank } = read
      const put = { kind: 'put', record: { scope: [], value: read.pet }, ...(rank !== undefined && { rank }) } as const
      return resource === undefined ? [] : [{ ...put, resource }]
    }
    case 'pet-removed': {
      const resource = own.list('pets')?.name
      return resource === undefined ? [] : [{ kind: 'remove', resource, scope: [], id: String(read.id) }]
    }
    case 'record': {
      const { idProperty, entry, rank } = read
      const resource = own.find(read.resource, idProperty, entry.scope.length).name
      return [{ kind: 'put', resource, record: entry, ...(rank !== undefined && { rank }) }]
    }
    case 'record-removed': {
      const { scope, id } = read
      return [{ kind: 'remove', resource: own.find(read.resource, 'id', scope.length).name, scope, id }]
    }
    case 'replaced':
      return [{ kind: 'replaced', state: readVersion1(read.state, layout) }]
    default:
      return [read]
  }
}

function resourcesOf(layout: Layout) {
  const names = namesOf(layout.resources)
  return {
    find(name: string, property: string, depth: number): StoredResource {
      const known = layout.resources.find((resource) => names.get(resource.path) === name)
      const fields = Array.from({ length: depth }, (_, index) => parentField(index))
      return known?.parents.length === depth ? known : layout.add(name, '', property, fields)
    },
    /** Undefined if the records of the resource were elsewhere, so that those of the list were not served. */
    list(name: 'pets' | 'orders'): StoredResource | undefined {
      const known = layout.resources.find((resource) => names.get(resource.path) === name)
      if (known === undefined) return layout.add(name, '', 'id', [])
      return isList(known, name) ? known : undefined
    },
  }
}

function isList({ id, path, parents, properties, isFixed }: ResourceData, name: 'pets' | 'orders'): boolean {
  if (name === 'pets') return id.property === 'id' && id.kind === 'integer' && parents.length === 0
  return isFixed === true && Object.keys(properties).length === 0 && path.endsWith('/orders')
}

/** The last segment of a path, else all without parameters, else the path: the first that no other resource had. */
function namesOf(resources: readonly ResourceData[]): ReadonlyMap<string, string> {
  const names = new Map(resources.map(({ path }) => [path, path.slice(1)]))
  const literals = (path: string) => path.split('/').filter((part) => part !== '' && !/^\{[^{}]*\}$/.test(part))
  for (const shorten of [(path: string) => literals(path).join('/'), (path: string) => literals(path).at(-1) ?? path]) {
    const count = new Map<string, number>()
    for (const path of names.keys()) count.set(shorten(path), (count.get(shorten(path)) ?? 0) + 1)
    for (const path of names.keys()) if (count.get(shorten(path)) === 1) names.set(path, shorten(path))
  }
  return names
}
