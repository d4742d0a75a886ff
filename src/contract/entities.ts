import type { operations } from './generated/types.js'

/** Suggests known words in editors, and accepts any other. */
export type Open<Known extends string> = Known | (string & Record<never, never>)

export type KnownOperation = keyof operations

/** An operation id: of the packaged contract, or of the one given with `spec`. */
export type OperationName = Open<KnownOperation>
