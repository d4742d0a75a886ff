import * as v from 'valibot'
import { type Int64, parseInt64 } from '../../contract/int64.js'
import { addNewPet, checkPet } from '../../core/new-pet.js'
import type { Space } from '../../core/space.js'
import type { Pet } from '../../domain/pets.js'
import { petFields } from '../../options/values/pet.js'
import { textSchema } from '../../options/values/reading.js'
import { countSchema, fields } from '../fields.js'
import { VerbError, verb } from '../verb.js'

/** An id as written in a path, or as a program passes it. */
const idSchema = v.pipe(
  v.union([v.string(), v.number(), v.bigint()], 'must be the id of a pet'),
  v.transform(String),
  textSchema<Int64>('must be the id of a pet', (text) => {
    const value = parseInt64(text)
    return value === undefined ? { problem: 'must be the id of a pet' } : { value }
  }),
)

export const list = verb({
  method: 'GET',
  path: '/pets',
  summary: 'The pets of a space, newest first; limit returns only the newest',
  input: fields({ limit: v.optional(countSchema('must be a number of pets')) }),
  run: ({ space: { pets } }, { limit = pets.size }) => pets.newest(limit),
})

export const add = verb({
  method: 'POST',
  path: '/pets',
  summary: 'Adds a pet as createPet does, without key or quota',
  input: fields({ ...petFields, status: v.exactOptional(petFields.status) }),
  run: ({ space }, pet) => addNewPet(space, pet),
})

export const set = verb({
  method: 'PATCH',
  path: '/pets/{id}',
  summary: 'Changes fields of a pet; null removes its status',
  input: fields({
    id: idSchema,
    name: v.exactOptional(petFields.name),
    categoryId: v.exactOptional(petFields.categoryId),
    status: v.exactOptional(v.nullable(petFields.status)),
  }),
  run({ space }, { id, status, ...fields }) {
    const pet = { ...find(space, id), ...fields }
    if (status !== null) return keep(space, status === undefined ? pet : { ...pet, status })
    const { status: _removed, ...rest } = pet
    return keep(space, rest)
  },
})

export const remove = verb({
  method: 'DELETE',
  path: '/pets/{id}',
  summary: 'Removes a pet; its id is not reused',
  input: fields({ id: idSchema }),
  run({ space, spaces, wall }, { id }) {
    const before = { kind: 'pet', pet: find(space, id), rank: space.pets.rankOf(id) } as const
    space.removePet(id)
    spaces.remember({ verb: 'pets.remove', space: space.name, at: wall, before })
    return { removed: id }
  },
})

function find(space: Space, id: Int64): Pet {
  const pet = space.pets.get(id)
  if (pet === undefined) throw new VerbError('not_found', `There is no pet ${id}.`)
  return pet
}

function keep(space: Space, pet: Pet): Pet {
  checkPet(space, pet)
  space.changePet(pet)
  return pet
}
