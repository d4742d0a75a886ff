import type { ApplyVerb } from '../core/machine.js'
import { checkInput } from './check-input.js'
import { findSpace, openSpace } from './find-space.js'
import type { Verb } from './verb.js'
import type { VerbName } from './verb-map.js'
import { VERBS } from './verbs.js'

/** Does a verb of the table. It opens its space, unless it takes something away. @throws VerbError, StoreFull, InvalidPet */
export const applyVerb: ApplyVerb = (spaces, { space: name, verb: verbName, input, fetched }, { now: wall }) => {
  const verb: Verb = VERBS[verbName as VerbName]
  const checked = checkInput(verb, input)
  const isOpening = verb.method !== 'DELETE' && spaces.get(name) === undefined
  const space = isOpening ? openSpace(spaces, name, wall) : findSpace(spaces, name)
  const isDone = spaces.remembering(space)
  try {
    const output = verb.run({ space, spaces, wall, fetched }, checked)
    isDone()
    return output
  } catch (error) {
    // A space that was opened for nothing is closed again.
    if (isOpening) spaces.remove(name)
    throw error
  }
}
