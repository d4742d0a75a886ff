import type { VerbName } from '../../control/verb-map.js'
import type { VerbRoute } from '../../control/verb-request.js'

/** Of the sandbox's one table of verbs, put in when the page is built. */
declare const VERB_ROUTES: Readonly<Record<VerbName, VerbRoute>>

export function routeOf(verb: VerbName): VerbRoute {
  return VERB_ROUTES[verb]
}
