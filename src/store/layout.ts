import * as v from 'valibot'
import type { Values } from '../contract/contract.js'
import { type Int64, parseInt64 } from '../contract/int64.js'
import { isNode, ownValue } from '../contract/json.js'
import {
  type IdData,
  type ParentData,
  parentField,
  RESERVED_NAME,
  type ResourceData,
} from '../contract/resource-data.js'
import { keyOf, nextIdAfter } from '../domain/collection.js'
import type { ApiKey } from '../domain/keys.js'
import { parentFields, withoutParentFields } from '../domain/parents.js'
import type { SavedRecords, Scope } from '../domain/records.js'
import { recordSchema } from '../domain/schemas.js'
import type { OtherContent, StoredState } from '../domain/state.js'
import { anyList, apiKey, check, fields, int64, list, record, text, wholeNumber } from './shape.js'
import { CorruptionError, StoreError } from './store-error.js'

/** The object in a file: the records of each resource by name, and the sandbox's own data in `$sandbox`. */
export type Content = Readonly<Record<string, unknown>>

/** What files need to know of a resource. */
export interface StoredResource extends Pick<ResourceData, 'name' | 'path' | 'parents' | 'single'> {
  readonly id: Pick<IdData, 'property' | 'isUnseen'> & Partial<Pick<IdData, 'kind'>>
}

const DOCUMENT_VERSION = 2

/** Leaves room for new ids below the end of int64. Only manual edits get this far. */
const MAX_NEXT_ID = 2n ** 62n
const nextId = v.pipe(
  int64,
  v.check((id) => id <= MAX_NEXT_ID, `a whole number up to ${MAX_NEXT_ID}`),
)

const byName = <Value>(value: v.GenericSchema<unknown, Value>) =>
  v.exactOptional(recordSchema(text, value, 'an object'))
/** Of each resource by name: the next id, the path template, and the fields of its parents. */
const ownData = fields({
  version: wholeNumber,
  next: byName(nextId),
  paths: byName(text),
  parents: byName(list(text)),
  keys: v.exactOptional(list(apiKey)),
})

/** What the user should know about a file. */
export class Reading {
  /** Sentences about resources that have other names now. */
  readonly renamed: string[] = []
  /** Ids that were texts. */
  converted = 0
}

/**
 * Converts between a state and the content of a file. A resource is found by its path, or else by its name; a list that
 * belongs to no resource is kept as it is.
 */
export class Layout {
  readonly #byName = new Map<string, StoredResource>()
  readonly #byPath = new Map<string, StoredResource>()
  readonly resources: readonly ResourceData[]
  readonly #keys: readonly ApiKey[]

  /** @param keys of a file without any, such as one of json-server */
  constructor(resources: readonly ResourceData[], keys: readonly ApiKey[] = []) {
    this.resources = resources
    this.#keys = keys
    for (const resource of resources) this.#know(resource)
  }

  #know(resource: StoredResource): void {
    this.#byName.set(resource.name, resource)
    if (resource.path !== '') this.#byPath.set(plain(resource.path), resource)
  }

  find(name: string, path = ''): StoredResource | undefined {
    const ofPath = path === '' ? undefined : this.#byPath.get(plain(path))
    if (ofPath !== undefined) return ofPath
    const ofName = this.#byName.get(name)
    // The same name at another depth is another resource: its records have other parents.
    return path === '' || ofName?.parents.length === (path.match(/\{/g)?.length ?? 0) ? ofName : undefined
  }

  /**
   * A resource of a journal, which another contract may have had.
   * @param path empty if it is not known @param fields of its parents
   */
  add(name: string, path: string, property: string, fields: readonly string[]): StoredResource {
    const known = this.find(name, path)
    if (known !== undefined && known.parents.length === fields.length)
      return { ...known, parents: named(known.parents, fields) }
    const parents = fields.map((field) => ({ parameter: field, field, property: field }))
    const added = { name: this.#freeName(name, path), path, id: { property }, parents }
    this.#know(added)
    return added
  }

  /** A name with a slash in front is not that of any resource. @param used by others */
  #freeName(name: string, path = '', used?: Content): string {
    if (!this.#byName.has(name)) return name
    let free = path || `/${name}`
    while (used !== undefined && Object.hasOwn(used, free)) free = `/${free}`
    return free
  }

  /**
   * @throws CorruptionError with the place; StoreError STORE_VERSION
   */
  read(content: Content, reading = new Reading()): StoredState {
    const own = Object.hasOwn(content, RESERVED_NAME) ? content[RESERVED_NAME] : { version: DOCUMENT_VERSION }
    const { version } = check(record, own, RESERVED_NAME)
    if (typeof version === 'number' && version !== DOCUMENT_VERSION) {
      const message = `it has version ${version}, this release reads version ${DOCUMENT_VERSION}. Use the release that wrote it, choose another file with --store, or discard it with --reset.`
      throw new StoreError('STORE_VERSION', message)
    }
    const { next = {}, paths = {}, parents = {}, keys = this.#keys } = check(ownData, own, RESERVED_NAME)
    const lists = Object.entries(content).filter(([name]) => name !== RESERVED_NAME)
    const taken = new Set<StoredResource>()
    const owners = new Map<string, StoredResource>()
    for (const wanted of ['path', 'name'])
      for (const [name] of lists) {
        const resource = owners.has(name) ? undefined : this.find(name, ownValue(paths, name))
        const isByPath = plain(resource?.path ?? '') === plain(ownValue(paths, name) ?? '')
        if (resource === undefined || taken.has(resource) || (wanted === 'path' && !isByPath)) continue
        taken.add(resource)
        owners.set(name, resource)
      }
    const records: [string, SavedRecords][] = []
    const others: OtherContent[] = []
    for (const [name, value] of lists) {
      const resource = owners.get(name)
      if (resource === undefined) {
        if (!Array.isArray(value)) check(record, value, name)
        const path = ownValue(paths, name)
        const facts = { next: ownValue(next, name), path, parents: ownValue(parents, name) }
        others.push({ name: this.#freeName(name, path, content), content: value, ...facts })
        continue
      }
      const items = check(anyList, isOne(resource) && isNode(value) ? [identified(resource, value)] : value, name)
      const { name: now } = resource
      const read = { ...resource, parents: named(resource.parents, ownValue(parents, name)) }
      records.push([now, readRecords(read, items, name, ownValue(next, name), reading)])
      if (now !== name) reading.renamed.push(`The resource "${name}" of the store is now named "${now}".`)
    }
    return { records, others, keys: uniqueKeys(keys) }
  }

  /** Describes what belongs to no resource of the contract; undefined if everything does. */
  unserved({ records, others }: StoredState): string | undefined {
    const served = new Set(this.resources.map(({ name }) => name))
    const kept = [
      ...records.flatMap(([name, { values }]) => (served.has(name) ? [] : [[name, values.length] as const])),
      ...others.map(({ name, content }) => [name, Array.isArray(content) ? content.length : 1] as const),
    ].filter(([, count]) => count > 0)
    if (kept.length === 0) return undefined
    const counts = kept.map(([name, count]) => `${count} of ${name}`).join(', ')
    return `The store has records that belong to no resource of the contract: ${counts}. They are kept, and not served.`
  }

  write({ records, others, keys }: StoredState): Content {
    const lists: [string, unknown][] = []
    const next: [string, Int64][] = []
    const paths: [string, string][] = []
    const parents: [string, readonly string[]][] = []
    for (const [name, { values, scopes, nextId }] of records) {
      const resource = this.find(name)
      const own = resource?.parents ?? unknownParents(scopes?.[0])
      // Another contract may have had a list there.
      if (resource !== undefined && isOne(resource) && values.length < 2) {
        if (values[0] !== undefined) lists.push([name, withoutUnseenId(resource, values[0])])
      } else
        lists.push([
          name,
          own.length === 0 ? values : values.map((value, at) => written(own, scopes?.[at] ?? [], value)),
        ])
      next.push([name, nextId])
      if (resource !== undefined && resource.path !== '') paths.push([name, resource.path])
      if (own.length > 0) parents.push([name, own.map(({ field }) => field)])
    }
    for (const other of others) {
      lists.push([other.name, other.content])
      if (other.next !== undefined) next.push([other.name, other.next])
      if (other.path !== undefined) paths.push([other.name, other.path])
      if (other.parents !== undefined) parents.push([other.name, other.parents])
    }
    const sandbox = {
      version: DOCUMENT_VERSION,
      next: Object.fromEntries(next),
      paths: Object.fromEntries(paths),
      ...(parents.length > 0 && { parents: Object.fromEntries(parents) }),
      keys: keys.map(storedKey),
    }
    return Object.fromEntries([...lists, [RESERVED_NAME, sandbox]])
  }
}

export function storedKey({ key, plan, always }: ApiKey): object {
  return { key, plan, always }
}

/** A template without the names of its parameters, which do not distinguish paths. */
function plain(path: string): string {
  return path.replaceAll(/\{[^{}]*\}/g, '{}')
}

/** Its record is an object in files, as in those of json-server. */
function isOne({ single, parents }: StoredResource): boolean {
  return single !== undefined && parents.length === 0
}

function identified({ single, id: { property } }: StoredResource, value: Values): Values {
  return { [property]: single?.initial?.[property] ?? 1, ...value }
}

function withoutUnseenId({ id }: StoredResource, value: Values): Values {
  if (!id.isUnseen) return value
  const { [id.property]: _, ...others } = value
  return others
}

/** Of records of another contract. */
function unknownParents(scope: Scope = []): readonly ParentData[] {
  return scope.map((_, index) => ({ parameter: '', field: parentField(index) }))
}

function named(parents: readonly ParentData[], fields: readonly string[] = []): readonly ParentData[] {
  return parents.map((parent, index) => ({ ...parent, field: fields[index] ?? parent.field }))
}

export function written(parents: readonly ParentData[], scope: Scope, value: SavedRecords['values'][number]) {
  return parents.length === 0 ? value : { ...parentFields(parents, { scope, value }), ...value }
}

/** @throws CorruptionError with the place of a record that cannot be stored */
export function readRecords(
  { id, parents }: StoredResource,
  items: readonly unknown[],
  name: string,
  next?: Int64,
  reading = new Reading(),
): SavedRecords {
  const { property, kind } = id
  const known = new Set<unknown>()
  const scopes: Scope[] = []
  let nextId = next ?? 1
  const values = items.map((item, index) => {
    const place = () => `${name}[${index}]`
    const nested = withoutParentFields(parents, isNode(item) ? item : check(record, item, place()))
    if (typeof nested === 'string')
      throw new CorruptionError(`${place()}.${nested} is missing: it is the id of the parent`)
    let { value } = nested
    const whole = kind === 'integer' && typeof value[property] === 'string' ? parseInt64(value[property]) : undefined
    if (whole !== undefined) {
      reading.converted++
      value = { ...value, [property]: whole }
    }
    const own = value[property]
    if (own !== undefined) {
      if (!IDS.has(typeof own)) check(recordId, own, `${place()}.${property}`)
      const key = keyOf(nested.scope, own)
      if (known.has(key))
        throw new CorruptionError(`${place()}.${property} is ${String(own)}, which an earlier record already has`)
      known.add(key)
      // A given number counts the texts already.
      if (next === undefined || typeof own !== 'string') nextId = nextIdAfter(nextId, own)
    }
    if (parents.length > 0) scopes.push(nested.scope)
    return value
  })
  return { idProperty: property, nextId, values, ...(scopes.length > 0 && { scopes }) }
}

const IDS = new Set(['string', 'number', 'bigint'])
const recordId = v.custom<never>(() => false, 'a text or a number')

function uniqueKeys(keys: readonly ApiKey[]): readonly ApiKey[] {
  const known = new Set<string>()
  for (const [index, { key }] of keys.entries()) {
    if (known.has(key)) throw new CorruptionError(`${RESERVED_NAME}.keys[${index}].key appears twice`)
    known.add(key)
  }
  return keys
}
