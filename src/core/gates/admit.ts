import { problem } from '../answers.js'
import type { Gate } from '../request-context.js'

/** Is the key valid at all? Who calls is asked before what is called. @source docs/specification.md, "Authentication" */
export const admit: Gate = ({ caller, route }) =>
  // A path outside the service needs no key: the client has mistyped the base address and is told so.
  caller.kind === 'key' || route.kind === 'outside' ? undefined : problem(caller.problem)
