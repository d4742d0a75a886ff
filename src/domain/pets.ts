import type { PetStatus } from '../contract/entities.js'

export type { NewPet, Pet, PetStatus } from '../contract/entities.js'

/** @source docs/specification.md, "PetStatus" */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies readonly PetStatus[]
