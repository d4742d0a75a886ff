import { keyVerbs } from './verbs/keys.js'
import { petVerbs } from './verbs/pets.js'
import { requestVerbs } from './verbs/requests.js'
import { resourceVerbs } from './verbs/resources.js'
import { sandboxVerbs } from './verbs/sandbox.js'
import { snapshotVerbs } from './verbs/snapshots.js'
import { spaceVerbs } from './verbs/space.js'
import { troubleVerbs } from './verbs/trouble.js'

/** All verbs by name. Routes, OpenAPI description, remote calls and types are derived from this table. */
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
