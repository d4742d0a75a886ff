import type { Contract } from '../contract/contract.js'
import { parseShallowJson } from '../contract/json.js'
import { type ResourceData, recordResources } from '../contract/resource-data.js'
import { Collection, type RecordBefore } from '../domain/collection.js'
import { Failure } from '../domain/failures.js'
import type { SavedRecords } from '../domain/records.js'
import type { SpaceState } from '../domain/state.js'
import { digestOf } from '../system/digest.js'
import { messageOf } from '../system/message-of.js'

/** Records by resource. */
export type Collections = ReadonlyMap<string, Collection>
/** Records before a change, by resource. */
export type CollectionsBefore = readonly (readonly [resource: string, before: readonly RecordBefore[]])[]

/** A fixture file: its path for messages, and its text. */
interface FixtureText {
  readonly file: string
  readonly text: string
}

/** Loads the seed records of spaces: `<resource>.json` of the fixtures, else the contract's examples. */
export interface RecordSeeds {
  readonly recordFiles?: readonly string[]
  /** @throws Failure FIXTURES_INVALID */
  readRecords?(files: ReadonlyMap<string, FixtureText>): SpaceState['records']
}

/** Fixture files with another purpose. */
const RESERVED = new Set(['pets', 'keys'])

export function recordSeeds(contract: Contract): RecordSeeds {
  const resources = recordResources(contract).filter(({ name }) => /^[\w/-]+$/.test(name) && !RESERVED.has(name))
  if (resources.length === 0) return {}
  return {
    recordFiles: resources.map(({ name }) => `${name}.json`),
    readRecords(files) {
      const read = resources.flatMap((resource) => {
        const own = files.get(`${resource.name}.json`)
        return own === undefined ? [] : [[resource.name, readFixture(resource, own).save()] as const]
      })
      return read.length === 0 ? undefined : Object.fromEntries(read)
    },
  }
}

function readFixture({ id, parents }: ResourceData, { file, text }: FixtureText): Collection {
  const invalid = (problem: string) => new Failure('FIXTURES_INVALID', `${file} ${problem}.`)
  let values: unknown
  try {
    values = parseShallowJson(text)
  } catch (error) {
    throw invalid(`is not valid JSON: ${messageOf(error)}`)
  }
  if (!Array.isArray(values)) throw invalid('must be an array of objects')
  return values.reduce<Collection>((collection, value: unknown, index) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalid(`[${index}] must be an object`)
    const fields = value as Readonly<Record<string, unknown>>
    const own = fields[id.property] ?? (id.kind === 'integer' ? collection.nextId : undefined)
    if (own === undefined) throw invalid(`[${index}].${id.property} is missing`)
    const scope = parents.map(({ property }) => {
      if (property === undefined || fields[property] === undefined)
        throw invalid(`[${index}] must name its parent; the contract has no property for it, or it is missing`)
      return String(fields[property])
    })
    if (collection.get(scope, String(own)) !== undefined) throw invalid(`[${index}].${id.property} appears twice`)
    return collection.put({ scope, value: { ...fields, [id.property]: own } })
  }, Collection.empty(id.property))
}

/** Whether some records that a space starts with are not in its stored state. */
export function hasUnsavedRecords(contract: Contract, saved: SpaceState['records']): boolean {
  return recordResources(contract).some(({ name, examples = [] }) => examples.length > 0 && saved?.[name] === undefined)
}

/** The stored records of each resource, or its examples in the contract. */
export function openCollections(contract: Contract, saved: SpaceState['records']): Collections {
  return new Map(
    recordResources(contract).map(({ name, id, examples = [] }) => {
      const records = saved?.[name]
      if (records !== undefined) return [name, Collection.from(records)]
      const seeded = examples.reduce<Collection>(
        (collection, value) => collection.put({ scope: [], value }),
        Collection.empty(id.property),
      )
      return [name, seeded]
    }),
  )
}

export function saveCollections(collections: Collections): readonly (readonly [name: string, SavedRecords])[] {
  return [...collections].map(([name, collection]) => [name, collection.save()])
}

export function loadCollections(saved: ReturnType<typeof saveCollections>): Collections {
  return new Map(saved.map(([name, records]) => [name, Collection.from(records)]))
}

/** Changed records, before the change. */
export function changedRecords(before: Collections, after: Collections): CollectionsBefore {
  if (before === after) return []
  return [...after].flatMap(([name, collection]) => {
    const changes = collection.changesSince(before.get(name) ?? Collection.empty(collection.idProperty))
    return changes.length === 0 ? [] : [[name, changes] as const]
  })
}

export function revertRecords(now: Collections, changes: CollectionsBefore): Collections {
  const reverted = changes.flatMap(([name, before]) => {
    const collection = now.get(name)
    return collection === undefined
      ? []
      : [[name, before.reduce((one, change) => one.revert(change), collection)] as const]
  })
  return reverted.length === 0 ? now : new Map([...now, ...reverted])
}

/** The UUID (version 8, RFC 9562) of the next record of a resource: the same for the same seed. */
export function uuidFrom(...parts: readonly (string | number)[]): string {
  const bytes = atob(digestOf(parts.join(':')))
  const hex = Array.from(bytes, (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-a$4-$5')
}
