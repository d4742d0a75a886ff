import { PastConduct } from '../conduct/total-conduct.js'
import type { ApplyVerb } from '../core/spaces.js'
import { checkInput, checkSpaceName, type Verb, VerbError } from './verb.js'
import type { VerbName } from './verb-map.js'
import { VERBS } from './verbs.js'

/**
 * Runs a verb, in a space that it opens if necessary. One that a DELETE opens stays open only if something changed.
 * @throws VerbError, StoreFull, RecordRefused
 */
export const applyVerb: ApplyVerb = (spaces, command, { now: wall, position: id }) => {
  const { space: spaceName, input, files } = command
  spaces.default.shared.pastConduct ??= new PastConduct()
  const name = command.verb as VerbName
  const verb: Verb = VERBS[name]
  const checked = checkInput(verb, input)
  const isOpening = spaces.get(spaceName) === undefined
  checkSpaceName(spaceName)
  const isTemporary = isOpening && verb.method === 'DELETE'
  const space = spaces.open(spaceName, wall, isTemporary)
  if (space === undefined) throw new VerbError('too_many_spaces', spaces.fullMessage())
  const origin = verb.origin === undefined ? 'you' : verb.origin(checked)
  const change = { name, id, canUndo: verb.canUndo ?? true, origin, isTemporary }
  try {
    return spaces.change(space, change, wall, () => verb.run({ space, spaces, wall, files }, checked))
  } catch (error) {
    if (isOpening) spaces.close(space)
    throw error
  }
}
