import type { Pet } from '../../src/contract/generated/entities.js'
import type { Int64 } from '../../src/contract/int64.js'
import { exactInteger, INT64_MAXIMUM, INT64_MINIMUM } from '../../src/contract/int64.js'
import type { ApiKey } from '../../src/domain/keys.js'
import { KEY_CONDITIONS } from '../../src/domain/keys.js'
import type { Change, StoredState } from '../../src/domain/state.js'
import fc from '../support/fast-check.js'
import { put, remove, stateWith } from './owner.js'

/** Few ids, so that changes meet the same pets again. */
const id: fc.Arbitrary<Int64> = fc.constantFrom<Int64>(1, 2, 3, 4, 9007199254740993n, INT64_MAXIMUM)
const int64: fc.Arbitrary<Int64> = fc.bigInt({ min: INT64_MINIMUM, max: INT64_MAXIMUM }).map(exactInteger)

const pet: fc.Arbitrary<Pet> = fc.record(
  {
    id,
    name: fc.string({ unit: 'binary', maxLength: 8 }),
    categoryId: int64,
    status: fc.constantFrom('available', 'pending', 'sold'),
  },
  { requiredKeys: ['id', 'name', 'categoryId'], noNullPrototype: true },
)

const keyName = fc.constantFrom('sandbox', 'a', 'é"\n')
const key: fc.Arbitrary<ApiKey> = fc.record(
  {
    key: keyName,
    plan: fc.constantFrom('free', 'pro', 'business', 'enterprise'),
    always: fc.constantFrom(...KEY_CONDITIONS),
  },
  { requiredKeys: ['key'], noNullPrototype: true },
)

const state: fc.Arbitrary<StoredState> = fc
  .record(
    {
      pets: fc.uniqueArray(pet, { selector: (one) => one.id, maxLength: 3 }),
      orders: fc.array(fc.record({ note: int64 }, { noNullPrototype: true }), { maxLength: 2 }),
      keys: fc.uniqueArray(key, { selector: (one) => one.key, maxLength: 2 }),
    },
    { noNullPrototype: true },
  )
  .map((parts) => stateWith({ ...parts, nextId: 5 }))

/** A toy has an id of its owner's, and may have a field with the name of the owner's id. */
const scope = fc.constantFrom('1', '2', '9007199254740993').map((owner) => [owner])
const toy = fc.record(
  { id: fc.constantFrom(1, 2), ownerId: fc.constantFrom(1, 'x') },
  { requiredKeys: ['id'], noNullPrototype: true },
)

/** Any change that a space can make. */
export const anyChange: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: pet.map(put) },
  { weight: 3, arbitrary: id.map(remove) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(scope, toy)
      .map(([scope, value]) => ({ kind: 'put', resource: 'toys', record: { scope, value } }) as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(scope, toy)
      .map(([scope, { id }]) => ({ kind: 'remove', resource: 'toys', scope, id: String(id) }) as const),
  },
  { weight: 2, arbitrary: key.map((one) => ({ kind: 'key', key: one }) as const) },
  { weight: 1, arbitrary: keyName.map((one) => ({ kind: 'key-removed', key: one }) as const) },
  { weight: 1, arbitrary: state.map((one) => ({ kind: 'replaced', state: one }) as const) },
)
