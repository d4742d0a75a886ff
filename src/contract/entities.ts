import type { components, operations } from './generated/types.js'

type Schemas = components['schemas']

export type PetStatus = Schemas['PetStatus']
/** A pet to be added. */
export type NewPet = Schemas['NewPet']
/** A pet as the service returns it. */
export type Pet = Schemas['Pet']
/** An order. The contract declares nothing about its fields. */
export type Order = Schemas['Order']
/** The body of every error. */
export type ErrorBody = Schemas['Error']

/** Suggests known words in editors, and accepts any other. */
export type Open<Known extends string> = Known | (string & Record<never, never>)

export type KnownOperation = keyof operations

/** An operation id: of the packaged contract, or of the one given with `spec`. */
export type OperationName = Open<KnownOperation>
