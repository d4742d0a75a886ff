import type { VerbName } from './verb-map.js'
import type { VerbRoute } from './verb-request.js'

/** Inserted by the build: the verbs themselves are ten times as large. */
declare const VERB_ROUTES: Readonly<Record<VerbName, VerbRoute>>

export const verbRoutes: Readonly<Record<VerbName, VerbRoute>> = VERB_ROUTES
