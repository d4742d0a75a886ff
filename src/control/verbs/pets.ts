import * as v from 'valibot'
import { type Int64, parseInt64 } from '../../contract/int64.js'
import type { Pet } from '../../domain/pets.js'
import { countSchema, fields, VerbError, verb } from '../verb.js'
import { addRecord, idSchema, removeRecord, setRecord } from './resources.js'

const PETS = 'pets'
const petId = v.pipe(
  idSchema,
  v.check((text) => parseInt64(text) !== undefined, 'must be the id of a pet'),
)

/** The records of the resource `pets`, with the types of the packaged contract. */
export const petVerbs = {
  'pets.list': verb('GET /pets', 'The pets of a space, newest first; limit returns only the newest', {
    input: fields({ limit: v.optional(countSchema('must be a number of pets')) }),
    run({ space }, { limit }) {
      const records = space.records.get(PETS)
      return (records?.newest(limit ?? records.size) ?? []) as readonly object[] as readonly Pet[]
    },
  }),
  'pets.add': verb('POST /pets', 'Adds a pet with the fields of the served contract, without key or quota', {
    input: v.looseObject({}, 'must be a map of fields'),
    run: ({ space, wall }, fields) => addRecord(space, PETS, fields, wall) as unknown as Pet,
  }),
  'pets.set': verb('PATCH /pets/{id}', 'Changes fields of a pet; null removes one', {
    input: v.looseObject({ id: petId }, 'must be a map of fields'),
    run({ space, wall }, { id, ...given }) {
      const isForeign = space.shared.realService !== undefined && space.records.get(PETS)?.get([], id) === undefined
      if (!isForeign) return setRecord(space, PETS, id, given, wall) as unknown as Pet
      if (given.name === undefined || given.categoryId === undefined)
        throw new VerbError(
          'not_found',
          `Pet ${id} is not in the sandbox; pets of the real service cannot be changed. Set name and categoryId to create a local copy that replaces it.`,
        )
      return addRecord(space, PETS, { ...given, id: parseInt64(id) ?? id }, wall) as unknown as Pet
    },
  }),
  'pets.remove': verb(
    'DELETE /pets/{id}',
    'Removes a pet; its id is not reused. removed is null if it does not exist',
    {
      input: fields({ id: petId }),
      canUndo: true,
      run: ({ space, wall }, { id }) => removeRecord(space, PETS, id, wall) as { removed: Int64 | null },
    },
  ),
  'orders.list': verb('GET /orders', 'The orders of a space, as from listOrders, without key or quota', {
    run: ({ space }) => space.records.get('orders')?.values() ?? [],
  }),
}
