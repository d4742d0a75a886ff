import type { VerbName } from './verb-map.js'
import type { VerbRoute } from './verb-request.js'
import { VERBS } from './verbs.js'

export const verbRoutes: Readonly<Record<VerbName, VerbRoute>> = VERBS
