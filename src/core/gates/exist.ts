import { PROBLEMS } from '../../domain/problems.js'
import { problem } from '../answers.js'
import type { Gate } from '../request-context.js'

/** Is there such an operation? */
export const exist: Gate = ({ route, request, path, space }) => {
  const { basePath, contract } = space.shared
  switch (route.kind) {
    case 'operation':
      return undefined
    case 'method-not-allowed':
      return problem('method_not_allowed', { headers: ['Allow', route.allow.join(', ')], outside: true })
    case 'unknown':
      return problem('not_found', { outside: true })
    case 'outside': {
      const meant = contract.route(request.method, path).kind === 'unknown' ? '' : ` Did you mean ${basePath}${path}?`
      return problem('not_found', {
        message: `${PROBLEMS.not_found.message} The service is under ${basePath}.${meant}`,
        outside: true,
      })
    }
  }
}
