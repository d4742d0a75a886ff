import type { operations } from './generated/types.js'

/** Words that an editor offers, where any other text may stand too. */
export type Open<Known extends string> = Known | (string & Record<never, never>)

/** An operation of the packaged contract. */
export type KnownOperation = keyof operations

/** An operation by its id: one of the packaged contract, or of the one given with `spec`. */
export type OperationName = Open<KnownOperation>
