import { keyVerbs } from './verbs/keys.js'
import { petVerbs } from './verbs/pets.js'
import { requestVerbs } from './verbs/requests.js'
import { resourceVerbs } from './verbs/resources.js'
import { sandboxVerbs } from './verbs/sandbox.js'
import { snapshotVerbs } from './verbs/snapshots.js'
import { spaceVerbs } from './verbs/space.js'
import { troubleVerbs } from './verbs/trouble.js'

/**
 * Everything that can be done to a running sandbox, by the verb's name. Routes, their description, the remote calls
 * and the types of inputs and outputs are derived from it.
 */
export const VERBS = {
  ...spaceVerbs,
  ...keyVerbs,
  ...troubleVerbs,
  ...petVerbs,
  ...resourceVerbs,
  ...snapshotVerbs,
  ...requestVerbs,
  ...sandboxVerbs,
}
