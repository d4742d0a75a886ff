import { parseInt64 } from '../contract/int64.js'
import { placeInState, type ResourceData } from '../contract/resource-data.js'
import type { ApiKey } from './keys.js'
import type { Pet } from './pets.js'
import type { RecordChange, SavedRecords } from './records.js'
import type { Change, StoredState } from './state.js'

// Converts between collections and documents, where pets and orders have fields of their own.

type Records = Omit<StoredState, 'keys'>

/** The records of a resource; undefined if there have been none. */
export function savedRecords(
  { nextPetId, pets, orders, records }: Records,
  resource: ResourceData,
): SavedRecords | undefined {
  switch (placeInState(resource)) {
    case 'pets':
      return { idProperty: 'id', nextId: nextPetId, values: pets as readonly object[] as SavedRecords['values'] }
    case 'orders':
      return { idProperty: 'id', nextId: 1, values: orders as SavedRecords['values'] }
    case 'records': {
      const saved = Object.hasOwn(records ?? {}, resource.name) ? records?.[resource.name] : undefined
      return saved && { ...saved, idProperty: resource.id.property }
    }
  }
}

/** What a state has of resources that the contract does not have, which is kept as it is. */
export function unservedRecords(
  { nextPetId, pets, orders, records }: Records,
  resources: readonly ResourceData[],
): Records {
  const places = new Set(resources.map(placeInState))
  const served = new Set(resources.flatMap((one) => (placeInState(one) === 'records' ? one.name : [])))
  const others = Object.entries(records ?? {}).filter(([name]) => !served.has(name))
  return {
    ...(places.has('pets') ? { nextPetId: 1, pets: [] } : { nextPetId, pets }),
    orders: places.has('orders') ? [] : orders,
    ...(others.length === 0 ? {} : { records: Object.fromEntries(others) }),
  }
}

export function toStoredState(
  unserved: Records,
  saved: readonly (readonly [ResourceData, SavedRecords])[],
  keys: readonly ApiKey[],
): StoredState {
  const at = (place: ReturnType<typeof placeInState>) => saved.filter(([resource]) => placeInState(resource) === place)
  const [pets] = at('pets')
  const [orders] = at('orders')
  const records = { ...unserved.records, ...Object.fromEntries(at('records').map(([{ name }, one]) => [name, one])) }
  return {
    nextPetId: pets?.[1].nextId ?? unserved.nextPetId,
    pets: (pets?.[1].values as readonly object[] | undefined as readonly Pet[] | undefined) ?? unserved.pets,
    orders: orders?.[1].values ?? unserved.orders,
    keys,
    ...(Object.keys(records).length === 0 ? {} : { records }),
  }
}

/** All values of a state, by resource. */
export function recordValues({ pets, orders, records = {} }: StoredState): ReadonlyMap<string, readonly unknown[]> {
  const others = Object.entries(records).map(([name, { values }]) => [`records.${name}`, values] as const)
  return new Map<string, readonly unknown[]>([['pets', pets], ['orders', orders], ...others])
}

/** As the store's journal has it. */
export function toStoredChange(resource: ResourceData, change: RecordChange): Change {
  const { name, id } = resource
  const isPet = placeInState(resource) === 'pets'
  if (change.kind === 'remove') {
    const pet = isPet ? parseInt64(change.id) : undefined
    if (pet !== undefined) return { kind: 'pet-removed', id: pet }
    return { kind: 'record-removed', resource: name, scope: change.scope, id: change.id }
  }
  const rank = change.rank === undefined ? {} : { rank: change.rank }
  if (isPet) return { kind: 'pet', pet: change.record.value as object as Pet, ...rank }
  return { kind: 'record', resource: name, idProperty: id.property, entry: change.record, ...rank }
}
