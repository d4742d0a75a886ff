import type { PetStatus } from '../contract/generated/entities.js'

/** With --spec, only the id is certain: other fields may be missing, different or added. */
export type { Pet, PetStatus } from '../contract/generated/entities.js'

/** @source docs/specification.md, "PetStatus" */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const satisfies readonly PetStatus[]
