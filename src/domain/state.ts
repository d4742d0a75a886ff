import type { Int64 } from '../contract/int64.js'
import type { ApiKey } from './keys.js'
import type { Pet } from './pets.js'

/** The part of a space that outlives the process. Pets are in order of creation, oldest first. */
export interface SpaceState {
  readonly nextPetId: Int64
  readonly pets: readonly Pet[]
  readonly orders: readonly unknown[]
  readonly keys: readonly ApiKey[]
}

/** For spaces that are filled with something else at once. */
export const EMPTY_STATE: SpaceState = { nextPetId: 1, pets: [], orders: [], keys: [] }

/**
 * One step from a state to the next. Each is absolute (what is now, not what was
 * done to it), so that applying a run of changes twice gives the same state.
 */
export type Change =
  | { readonly kind: 'pet'; readonly pet: Pet }
  | { readonly kind: 'pet-removed'; readonly id: Int64 }
  | { readonly kind: 'key'; readonly key: ApiKey }
  | { readonly kind: 'key-removed'; readonly key: string }
  | { readonly kind: 'replaced'; readonly state: SpaceState }
