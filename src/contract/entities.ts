import type { components } from './generated/types.js'

type Schemas = components['schemas']

export type PetStatus = Schemas['PetStatus']
/** An animal to be added. */
export type NewPet = Schemas['NewPet']
/** An animal, as the service returns it. */
export type Pet = Schemas['Pet']
/** An order. The contract declares nothing about its fields. */
export type Order = Schemas['Order']
/** The body of every error. */
export type ErrorBody = Schemas['Error']
