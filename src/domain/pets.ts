import type { Int64 } from '../contract/int64.js'

/** Availability of an animal. @source specification, "PetStatus" */
export type PetStatus = 'available' | 'pending' | 'sold'

/** An animal as the service returns it. @source specification, "Pet" */
export interface Pet {
  readonly id: Int64
  readonly name: string
  readonly categoryId: Int64
  readonly status?: PetStatus
}
