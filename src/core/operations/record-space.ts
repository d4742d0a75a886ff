import { type Int64, parseInt64 } from '../../contract/int64.js'
import { isPetCatalogue, type ResourceData } from '../../contract/resource-data.js'
import type { Pet } from '../../domain/pets.js'
import type { Records } from '../../domain/records.js'
import type { RecordChange, RecordSpace } from '../resource-actions.js'
import type { Space } from '../space.js'
import { checkPet } from './pets.js'

/** The records of a space, pets among them. */
export function recordSpaceOf(space: Space): RecordSpace {
  const { resources } = space.shared.contract
  return {
    records: (name) => space.records.get(name) ?? (isPets(name, resources) ? petRecords(space) : undefined),
    resource: (name) => resources.find((one) => one.name === name),
    children: (name) => resources.filter(({ parents }) => parents.some(({ resource }) => resource === name)),
    newUuid: (name) => space.newUuid(name),
  }
}

function isPets(name: string, resources: readonly ResourceData[]): boolean {
  return resources.some((resource) => resource.name === name && isPetCatalogue(resource))
}

function petRecords({ pets, nextPetId }: Space): Records {
  const recordOf = (pet: Pet) => ({ scope: [], value: pet as unknown as Readonly<Record<string, unknown>> })
  return {
    get(_scope, id) {
      const known = parseInt64(id)
      const pet = known === undefined ? undefined : pets.get(known)
      return pet && recordOf(pet)
    },
    all: () => pets.pets().map(recordOf),
    nextId: nextPetId,
  }
}

/** @throws StoreFull, InvalidPet */
export function changeRecord(space: Space, change: RecordChange): void {
  if (space.records.has(change.resource)) space.changeRecord(change)
  else if (change.kind === 'remove') space.removePet(parseInt64(change.id) as Int64)
  else {
    const pet = change.record.value as unknown as Pet
    checkPet(space, pet)
    if (space.pets.has(pet.id)) space.changePet(pet)
    else space.addPet(() => pet)
  }
}
