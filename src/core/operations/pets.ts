import type { Int64 } from '../../contract/int64.js'
import { InvalidPet, type NewPet, type Pet, type PetStatus, petText } from '../../domain/pets.js'
import { StoreFull } from '../../domain/problems.js'
import { problem } from '../answers.js'
import type { Handler } from '../request-context.js'
import type { Space } from '../space.js'

/** With a store, the 201 is sent only after the pet is written. @source docs/specification.md, "POST /pets"; docs/state.md, "Durability" */
export const createPet: Handler = ({ space }, { body }) => {
  try {
    return { status: 201, body: petText(addNewPet(space, (body?.values ?? {}) as unknown as NewPet)) }
  } catch (error) {
    if (error instanceof StoreFull) return problem('store_full')
    if (error instanceof InvalidPet) return problem('invalid_request', { message: error.message, outside: true })
    throw error
  }
}

/** @source docs/specification.md, "GET /pets/{petId}" */
export const getPet: Handler = ({ space }, { path }) => {
  // A contract given with --spec may rename the parameter.
  const body = space.pets.textOf(onlyOneOf(path.values) as Int64)
  return body === undefined ? problem('not_found') : { status: 200, body }
}

function onlyOneOf(values: Readonly<Record<string, unknown>>): unknown {
  for (const name in values) return values[name]
  return undefined
}

/** @source docs/specification.md, "GET /pets" */
export const listPets: Handler = ({ space }, { query }) => {
  // A contract given with --spec may have no limit.
  const { limit = Number.POSITIVE_INFINITY, status } = query.values as { limit?: Int64; status?: PetStatus }
  const list = space.pets.list(Number(limit), status, space.shared.order)
  return 'text' in list ? { status: 200, body: list.text, binary: list.binary } : { status: 200, body: list }
}

/** Adds a new pet, with the next id. @throws StoreFull, InvalidPet */
export function addNewPet(space: Space, fields: NewPet): Pet {
  return space.addPet((id) => newPet(space, id, fields))
}

function newPet(space: Space, id: Int64, fields: NewPet): Pet {
  const rules = space.shared.contract.pets
  if (rules === undefined) {
    const { name, categoryId, status } = fields
    return { id, name, categoryId, ...(status === undefined ? {} : { status }) }
  }
  const documented = Object.entries(fields).filter(([name]) => name !== 'id' && rules.fields?.has(name) !== false)
  const pet = Object.fromEntries([['id', id], ...documented]) as unknown as Pet
  checkPet(space, pet)
  return pet
}

/** @throws InvalidPet if the contract does not allow it in responses */
export function checkPet({ shared: { contract } }: Space, pet: Pet): void {
  const breaches = contract.pets?.findBreaches(pet) ?? []
  if (breaches.length > 0) throw new InvalidPet(`The contract has no such animal: ${breaches.join('; ')}.`)
}
