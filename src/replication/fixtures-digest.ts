import { stringifyJson } from '../contract/json.js'
import type { SpaceState } from '../domain/state.js'
import { digestOf } from '../system/digest.js'

/** Digested at a time: the text of all of a million pets would be larger than they are. */
const PETS_AT_A_TIME = 1000

/** Tells fixtures apart that are not the same. */
export function digestOfFixtures({ pets, ...rest }: SpaceState): string {
  const digests: string[] = []
  for (let from = 0; from < pets.length; from += PETS_AT_A_TIME)
    digests.push(digestOf(stringifyJson(pets.slice(from, from + PETS_AT_A_TIME))))
  return digestOf(stringifyJson(rest), ...digests)
}
