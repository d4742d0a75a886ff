import { PROBLEMS } from '../../domain/problems.js'
import { didYouMean } from '../../domain/suggest.js'
import { problem } from '../answers.js'
import type { Gate } from '../request-context.js'
import type { Space } from '../space.js'

/** Is there such an operation? */
export const exist: Gate = ({ route, request, path, space }) => {
  const { basePath, contract } = space.shared
  switch (route.kind) {
    case 'operation':
      return undefined
    case 'method-not-allowed':
      return problem('method_not_allowed', { headers: ['Allow', route.allow.join(', ')], outside: true })
    case 'unknown':
      return problem('not_found', { message: `${PROBLEMS.not_found.message}${meantPath(space, path)}`, outside: true })
    case 'outside': {
      const meant = contract.route(request.method, path).kind === 'unknown' ? '' : ` Did you mean ${basePath}${path}?`
      return problem('not_found', {
        message: `${PROBLEMS.not_found.message} The service is under ${basePath}.${meant}`,
        outside: true,
      })
    }
  }
}

/** The path of the service that was probably meant, as a further sentence; empty if none is near. */
function meantPath({ shared: { basePath, contract } }: Space, path: string): string {
  const asked = path.slice(basePath.length).split('/')
  const known = contract.operations.map((operation) => {
    const parts = operation.path.split('/')
    // What stands for a parameter is right as it is.
    const isAlike = parts.length === asked.length
    return (
      basePath +
      parts.map((part, at) => (isAlike && part.startsWith('{') && asked[at] !== '' ? asked[at] : part)).join('/')
    )
  })
  return didYouMean(path, known, basePath.length + 1).replace(/^; d/, ' D')
}
