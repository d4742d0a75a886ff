import { keyVerbs } from './verbs/keys.js'
import { requestVerbs } from './verbs/requests.js'
import { petVerbs, resourceVerbs } from './verbs/resources.js'
import { sandboxVerbs, snapshotVerbs } from './verbs/sandbox.js'
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
