import type { Space } from '../core/space.js'
import type { Spaces } from '../core/spaces.js'
import { isSpaceName } from '../domain/space-name.js'
import { didYouMean } from '../domain/suggest.js'
import type { EpochMs } from '../domain/time.js'
import { quoted } from '../options/problem.js'
import { VerbError } from './verb.js'

/** @throws VerbError where there is no such space */
export function findSpace(spaces: Spaces, name: string): Space {
  checkSpaceName(name)
  const space = spaces.get(name)
  if (space === undefined) throw noSuchSpace(spaces, name)
  return space
}

/** Finds a space, or opens it. @throws VerbError `too_many_spaces` */
export function openSpace(spaces: Spaces, name: string, wall: EpochMs): Space {
  checkSpaceName(name)
  const space = spaces.open(name, wall)
  if (space === undefined) throw new VerbError('too_many_spaces', spaces.fullMessage())
  return space
}

/** @throws VerbError `invalid_request` */
export function checkSpaceName(name: string): void {
  if (name === '' || isSpaceName(name)) return
  throw new VerbError('invalid_request', `${quoted(name)} is not a valid space name. Use 1 to 64 of A-Z a-z 0-9 . _ -`)
}

/** Says that a space is not open, and how one is. */
export function noSuchSpace(spaces: Spaces, name: string): VerbError {
  const meant = didYouMean(name, spaces.names()) || '.'
  return new VerbError(
    'not_found',
    `There is no space ${quoted(name)}${meant} A space is opened by its first request (with a key such as sandbox~name), or by a verb that changes it.`,
  )
}
