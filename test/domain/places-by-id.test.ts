import { expect, it } from 'vitest'
import type { Int64 } from '../../src/contract/int64.js'
import { PlacesById } from '../../src/domain/places-by-id.js'
import fc from '../support/fast-check.js'

/** Ids in order, just beyond what the array holds, far away, negative and beyond 2^53. */
const anyId: fc.Arbitrary<Int64> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 300 }) },
  fc.integer(),
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 53n + 3n }),
)
const anyStep = fc.record({ id: anyId, place: fc.option(fc.nat({ max: 2 ** 31 - 2 })) })

function expectSame(places: PlacesById, map: ReadonlyMap<Int64, number>, ids: Iterable<Int64>): void {
  for (const id of ids) expect(places.get(id), String(id)).toBe(map.get(id))
}

it('places by id finds what a Map finds, for any ids in any order', () => {
  fc.assert(
    fc.property(fc.nat({ max: 300 }), fc.array(anyStep, { maxLength: 200 }), (inOrder, steps) => {
      const places = new PlacesById()
      const map = new Map<Int64, number>()
      const numbered = Array.from({ length: inOrder }, (_, index) => ({ id: index + 1, place: index }))
      // Some before the array has room for them, some after.
      for (const { id, place } of [...steps.slice(0, 100), ...numbered, ...steps.slice(100)]) {
        if (place === null) {
          places.delete(id)
          map.delete(id)
        } else {
          places.set(id, place)
          map.set(id, place)
        }
      }
      expectSame(places, map, [...map.keys(), ...steps.map(({ id }) => id), 0, 63, 64, 65, 301])
    }),
  )
})
