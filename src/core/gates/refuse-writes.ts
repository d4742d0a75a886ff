import type { Gate } from '../request-context.js'
import { problem } from '../responses.js'

const READS = ['GET', 'HEAD', 'OPTIONS']

/** Is it a write that must not reach the real service? @source docs/real-service.md, "Writes" */
export const refuseWrites: Gate = ({ request, route, space }) => {
  if (space.shared.upstream?.writes !== 'refuse' || READS.includes(request.method)) return undefined
  if (route.kind === 'outside' || (route.kind === 'operation' && route.operation.isMocked)) return undefined
  return problem('upstream_read_only', { reason: 'upstream' })
}
