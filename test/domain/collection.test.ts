import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Values } from '../../src/contract/contract.js'
import { Collection } from '../../src/domain/collection.js'
import type { Scope, StoredRecord } from '../../src/domain/records.js'
import '../support/fast-check.js'

const KINDS = ['a', 'b', undefined] as const
const SCOPES: readonly Scope[] = [[], ['1'], ['1', 'x'], ['2']]

const change = fc.record({
  isRemoved: fc.boolean(),
  scope: fc.constantFrom(...SCOPES),
  id: fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constantFrom('one', 'two', '7', 2n ** 60n)),
  kind: fc.constantFrom(...KINDS),
})
type RandomChange = typeof change extends fc.Arbitrary<infer One> ? One : never

/** The same, as a list that is searched. */
class Model {
  records: readonly StoredRecord[] = []

  apply({ isRemoved, scope, id, kind }: RandomChange): void {
    const value: Values = { id, kind }
    const isIt = (one: StoredRecord) => String(one.value.id) === String(id) && String(one.scope) === String(scope)
    if (isRemoved) this.records = this.records.filter((one) => !isIt(one))
    else if (this.records.some(isIt)) this.records = this.records.map((one) => (isIt(one) ? { scope, value } : one))
    else this.records = [...this.records, { scope, value }]
  }
}

function applyAll(changes: readonly RandomChange[], collection: Collection, model?: Model): void {
  for (const one of changes) {
    model?.apply(one)
    if (one.isRemoved) collection.remove(one.scope, one.id)
    else collection.put({ scope: one.scope, value: { id: one.id, kind: one.kind } })
  }
}

function expectSame(collection: Collection, { records }: Model): void {
  const listed = (scope: Scope, filters: readonly (readonly [string, readonly unknown[]])[] = []) =>
    collection.places(scope, filters).map((place) => collection.at(place))
  expect(collection.values()).toEqual(records.map(({ value }) => value))
  expect(collection.size).toBe(records.length)
  for (const { scope, value } of records) expect(collection.get(scope, String(value.id))).toEqual(value)
  for (const scope of SCOPES) {
    const inside = records.filter((one) => scope.every((value, index) => one.scope[index] === value))
    expect(listed(scope)).toEqual(inside.map(({ value }) => value))
    for (const kind of ['a', 'b'])
      expect(listed(scope, [['kind', [kind]]])).toEqual(
        inside.flatMap(({ value }) => (value.kind === kind ? [value] : [])),
      )
  }
}

it('holds the same as a list, before and after a save', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const collection = Collection.empty('id', ['kind'])
      const model = new Model()
      applyAll(changes, collection, model)
      expectSame(collection, model)
      expectSame(new Collection(collection.save(), ['kind']), model)
    }),
  )
})

it('counts ids from the largest one that a double can hold, and leaves none out that is free', () => {
  const collection = Collection.empty('id')
  for (const id of [5, 2n ** 60n, 3]) collection.put({ scope: [], value: { id } })
  expect([collection.nextId, collection.freeId()]).toEqual([6, 6])
  collection.remove([], 5)
  expect(collection.freeId()).toBe(6)
  collection.put({ scope: [], value: { id: Number.MAX_SAFE_INTEGER } })
  expect(collection.freeId()).toBe(2n ** 53n)
})
