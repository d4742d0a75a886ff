import type { Spaces } from '../core/spaces.js'
import type { EpochMs } from '../domain/time.js'
import type { VerbDone } from './verb.js'
import { verbText } from './verb-text.js'

/** Tells those who follow a space of a verb that was done in it. @returns the verb, with its time */
export function tellOf(spaces: Spaces, verb: Omit<VerbDone, 'at'>, wall: EpochMs): VerbDone {
  const space = spaces.get(verb.space)
  const at = space?.now(wall) ?? wall
  const done = { ...verb, at }
  space?.log.tell({ at: new Date(at).toISOString(), verb: verb.name, text: verbText(done) })
  return done
}
