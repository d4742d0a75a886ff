import type { Contract, Values } from '../contract/contract.js'
import { Collection } from '../domain/collection.js'
import type { StoredState } from '../domain/state.js'

/** A collection as everybody may use it: only the commit of a space changes one. */
export type RecordsView = Omit<Collection, 'put' | 'remove' | 'isShared'>

/** Records by resource. */
export type Collections = ReadonlyMap<string, RecordsView>

/** What a state has of resources that the contract does not have. It is kept as it is. */
export type Unserved = Pick<StoredState, 'records' | 'others'>

export function unservedRecords(
  { resources }: Pick<Contract, 'resources'>,
  { records, others }: StoredState,
): Unserved {
  const served = new Set(resources.map(({ name }) => name))
  return { records: records.filter(([name]) => !served.has(name)), others }
}

/** How many records each resource of the contract has in a space. */
export function countRecords(
  { resources }: Pick<Contract, 'resources'>,
  records: Collections,
): Readonly<Record<string, number>> {
  return Object.fromEntries(resources.map(({ name }) => [name, records.get(name)?.size ?? 0]))
}

/** Whether some records that a space starts with are not in its stored state. */
export function hasUnsavedRecords({ resources }: Pick<Contract, 'resources'>, { records }: StoredState): boolean {
  const saved = new Set(records.map(([name]) => name))
  return resources.some(({ name, examples = [] }) => examples.length > 0 && !saved.has(name))
}

/** Describes stored records that the contract does not allow, for example after a change of the contract; undefined if all fit. */
export function unfitRecords({ resources, rules }: Pick<Contract, 'resources' | 'rules'>, { records }: StoredState) {
  const saved = new Map(records)
  const unfit = resources.flatMap(({ name, id }) => {
    const { values } = saved.get(name) ?? { values: [] }
    const rule = rules?.get(name)
    const violations = (record: Values) =>
      id.property in record ? (rule?.findViolations(record) ?? []) : [`${id.property} is missing`]
    const broken = values.filter((record) => violations(record).length > 0)
    return broken[0] === undefined
      ? []
      : [`${broken.length} of ${values.length} ${name} (${violations(broken[0]).join('; ')})`]
  })
  return unfit.length === 0
    ? undefined
    : `Some stored records do not fit the contract: ${unfit.join(', ')}. They are served as they are.`
}

/** The stored records of each resource; without any, the records of the contract's examples. */
export function openCollections({ resources }: Pick<Contract, 'resources'>, { records }: StoredState): Collections {
  const known = new Map(records)
  return new Map(
    resources.map(({ name, id, examples = [], properties }) => {
      const indexed = Object.keys(properties).filter((property) => properties[property]?.choices)
      const saved = known.get(name)
      const collection = saved
        ? new Collection({ ...saved, idProperty: id.property }, indexed)
        : Collection.empty(id.property, indexed)
      if (saved === undefined) for (const value of examples) collection.put({ scope: [], value })
      return [name, collection]
    }),
  )
}

/** Named spaces start with the same records. */
const seeded = new WeakMap<StoredState, Collections>()

export function openSeed(contract: Pick<Contract, 'resources'>, seed: StoredState): Collections {
  let known = seeded.get(seed)
  if (known === undefined) {
    known = openCollections(contract, seed)
    seeded.set(seed, known)
  }
  return shareCollections(known)
}

/** Part of several states from now on: the first change of each collection copies it. */
export function shareCollections(collections: Collections): Collections {
  for (const collection of collections.values()) (collection as Collection).isShared = true
  return collections
}
