import * as v from 'valibot'
import type { Values } from '../../contract/contract.js'
import { type Int64, parseInt64 } from '../../contract/int64.js'
import { placeInState, type ResourceData } from '../../contract/resource-data.js'
import { changeRecord, createRecord } from '../../core/operations/record-space.js'
import type { Space } from '../../core/space.js'
import type { Pet } from '../../domain/pets.js'
import { petFields } from '../../options/values/pet.js'
import { textSchema } from '../../options/values/reading.js'
import { checkInput, countSchema, fields, VerbError, verb } from '../verb.js'
import { addRecord, setRecord } from './resources.js'

/** Accepts text in a path, or a number. */
const ID_FORM = 'must be the id of a pet'
const idSchema = v.pipe(
  v.union([v.string(), v.number(), v.bigint()], ID_FORM),
  v.transform(String),
  textSchema<Int64>(ID_FORM, (text) => {
    const value = parseInt64(text)
    return value === undefined ? { problem: ID_FORM } : { value }
  }),
)

const newPetSchema = fields({ ...petFields, status: v.exactOptional(petFields.status) })
const petChangeSchema = fields({
  name: v.exactOptional(petFields.name),
  categoryId: v.exactOptional(petFields.categoryId),
  status: v.exactOptional(v.nullable(petFields.status)),
})
type PetChange = v.InferOutput<typeof petChangeSchema>

export const petVerbs = {
  'pets.list': verb('GET /pets', 'The pets of a space, newest first; limit returns only the newest', {
    input: fields({ limit: v.optional(countSchema('must be a number of pets')) }),
    run({ space }, { limit }) {
      const records = space.records.get('pets')
      return (records?.newest(limit ?? records.size) ?? []) as readonly object[] as readonly Pet[]
    },
  }),
  'pets.add': verb('POST /pets', 'Adds a pet with the fields of the served contract, without key or quota', {
    input: v.looseObject({}, 'must be a map of fields'),
    run({ space, wall }, fields) {
      const resource = servedPets(space)
      if (resource !== undefined) return addRecord(space, resource, fields, wall) as unknown as Pet
      const pet = checkInput({ input: newPetSchema }, fields) as Values
      return createRecord(space, petResource(space), pet, space.now(wall)) as unknown as Pet
    },
  }),
  'pets.set': verb('PATCH /pets/{id}', 'Changes fields of a pet; null removes one', {
    input: v.looseObject({ id: idSchema }, 'must be a map of fields'),
    run({ space, wall }, { id, ...given }) {
      const known = petIn(space, id)
      const resource = known === undefined ? undefined : servedPets(space)
      if (resource !== undefined) return setRecord(space, resource, String(id), given, wall) as unknown as Pet
      const { status, ...fields } = checkInput({ input: petChangeSchema }, given) as PetChange
      const before = { ...(known ?? localCopy(space, id, fields)), ...fields }
      const { status: _, ...rest } = before
      const pet: Pet = status === undefined ? before : status === null ? rest : { ...before, status }
      const value = pet as object as Values
      changeRecord(space, { kind: 'put', resource: petResource(space).name, record: { scope: [], value } })
      return pet
    },
  }),
  'pets.remove': verb(
    'DELETE /pets/{id}',
    'Removes a pet; its id is not reused. removed is null if it does not exist',
    {
      input: fields({ id: idSchema }),
      canUndo: true,
      run({ space }, { id }) {
        if (petIn(space, id) === undefined) return { removed: null }
        changeRecord(space, { kind: 'remove', resource: 'pets', scope: [], id: String(id) })
        return { removed: id }
      },
    },
  ),
  'orders.list': verb('GET /orders', 'The orders of a space, as from listOrders, without key or quota', {
    run: ({ space }) => space.records.get('orders')?.values() ?? [],
  }),
}

/** The resource of the pets in a contract given with --spec. Its fields may differ. */
function servedPets({ shared: { contract } }: Space): string | undefined {
  return contract.rules && contract.resources.find((one) => placeInState(one) === 'pets')?.name
}

function petIn(space: Space, id: Int64): Pet | undefined {
  return space.records.get('pets')?.get([], id) as object | undefined as Pet | undefined
}

function petResource({ shared: { contract } }: Space): ResourceData {
  const resource = contract.resources.find(({ name }) => name === 'pets')
  if (resource === undefined) throw new VerbError('not_found', 'The contract has no pets.')
  return resource
}

/** With `upstream`, changing a pet of the real service creates a local copy that replaces it. */
function localCopy(space: Space, id: Int64, { name, categoryId }: { name?: string; categoryId?: Int64 }): Pet {
  if (space.shared.realService === undefined || name === undefined || categoryId === undefined)
    throw missing(space, id, ' Set name and categoryId to create a local copy that replaces it.')
  return { id, name, categoryId }
}

function missing(space: Space, id: Int64, help = ''): VerbError {
  const isLocal = space.shared.realService === undefined
  const elsewhere = `Pet ${id} is not in the sandbox; pets of the real service cannot be changed.${help}`
  return new VerbError('not_found', isLocal ? `Pet ${id} does not exist.` : elsewhere)
}
