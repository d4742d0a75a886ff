import type { PetStatus } from '../contract/entities.js'

/**
 * Types of the packaged contract. Of a pet under a contract given with --spec only the id is
 * certain: any other field may be missing, or be something else, and there may be more.
 */
export type { NewPet, Pet, PetStatus } from '../contract/entities.js'

/** @source docs/specification.md, "PetStatus" */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies readonly PetStatus[]

/** A pet that would break an answer of the contract being served. Nothing of it was kept. */
export class InvalidPet extends Error {
  override readonly name = 'InvalidPet'
}
