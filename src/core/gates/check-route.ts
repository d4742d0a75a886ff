import { excerpt } from '../../contract/excerpt.js'
import { PROBLEMS } from '../../domain/problems.js'
import { didYouMean } from '../../domain/suggest.js'
import type { Gate } from '../request-context.js'
import { problem } from '../responses.js'
import type { Space } from '../space.js'

const MAX_METHOD_LENGTH = 20

/** Is there such an operation? */
export const checkRoute: Gate = ({ route, request, path, space }) => {
  const { basePath, contract } = space.shared
  switch (route.kind) {
    case 'operation':
      return undefined
    case 'method-not-allowed':
      return problem('method_not_allowed', {
        message: `This path supports ${route.allow.join(', ')}, not ${excerpt(request.method, MAX_METHOD_LENGTH)}.`,
        headers: ['Allow', route.allow.join(', ')],
        outside: true,
      })
    case 'unknown':
      return problem('not_found', {
        message: `${PROBLEMS.not_found.message}${meantPath(space, path, request.method)}`,
        outside: true,
      })
    case 'outside': {
      const meant = contract.route(request.method, path).kind === 'unknown' ? '' : ` Did you mean ${basePath}${path}?`
      const why = basePath === '' ? 'The sandbox has this path itself.' : `The service is under ${basePath}.${meant}`
      return problem('not_found', {
        message: `${PROBLEMS.not_found.message} ${why}`,
        outside: true,
      })
    }
  }
}

/** "Did you mean …?" as a further sentence, or empty. */
function meantPath({ shared: { basePath, contract } }: Space, path: string, method: string): string {
  const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`
  if (contract.route(method, other.slice(basePath.length)).kind !== 'unknown') return ` Did you mean ${other}?`
  const asked = path.slice(basePath.length).split('/')
  const known = contract.operations.map((operation) => {
    const parts = operation.path.split('/')
    // Values of parameters are right.
    const isAlike = parts.length === asked.length
    return (
      basePath +
      parts.map((part, at) => (isAlike && part.startsWith('{') && asked[at] !== '' ? asked[at] : part)).join('/')
    )
  })
  return didYouMean(path, known, basePath.length + 1).replace(/^; d/, ' D')
}
