import { RESERVED_PATH } from '../contract/base-path.js'
import type { Contract } from '../contract/contract.js'
import type { ServiceRequest, ServiceRoute } from '../domain/messages.js'

/** Not decoded. */
export interface RequestTarget {
  readonly path: string
  /** Without the "?". */
  readonly query: string
}

/** Splits origin-form (`/v1/pets?limit=5`) and absolute-form (`http://host/v1/pets`). @source RFC 9112, section 3.2 */
export function splitTarget(target: string): RequestTarget {
  const origin = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '') || '/'
  const mark = origin.indexOf('?')
  return mark === -1 ? { path: origin, query: '' } : { path: origin.slice(0, mark), query: origin.slice(mark + 1) }
}

export function findRoute(
  contract: Contract,
  basePath: string,
  { method }: Pick<ServiceRequest, 'method'>,
  path: string,
): ServiceRoute {
  if (basePath === '' && RESERVED_PATH.test(path)) return { kind: 'outside' }
  if (path.startsWith(basePath) && (path.length === basePath.length || path[basePath.length] === '/')) {
    return contract.route(method, path.slice(basePath.length))
  }
  return { kind: 'outside' }
}
