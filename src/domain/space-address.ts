import type { ServiceRequest } from './messages.js'

const ADDRESS = /^((?:https?:\/\/[^/?]*)?)\/(?:~|%7e)([^/?]*)\/?/i

/**
 * A request without the space that its address names: `/~checkout/v1/pets` is `/v1/pets` in the space `checkout`.
 * @source docs/behaviour.md, "Spaces"
 */
export function withoutSpace<Request extends Pick<ServiceRequest, 'target'>>(request: Request): Request {
  // Fast path for the usual target.
  if (request.target[0] === '/' && request.target[1] !== '~' && request.target[1] !== '%') return request
  const [found, origin = '', space] = ADDRESS.exec(request.target) ?? []
  if (found === undefined || space === undefined) return request
  return { ...request, target: `${origin}/${request.target.slice(found.length)}`, space }
}

/** What stands before a path in the addresses of a space: `/~checkout`; empty for the default space. */
export function spacePath(space: string | undefined): string {
  return space ? `/~${space}` : ''
}

/** `http://127.0.0.1:4010/~checkout/v1` of `http://127.0.0.1:4010/v1`. */
export function addressInSpace(address: string, space: string): string {
  return address.replace(/^\w+:\/\/[^/]*/, (origin) => origin + spacePath(space))
}

export function addressOf({ path, query }: { readonly path: string; readonly query: string }): string {
  return query === '' ? path : `${path}?${query}`
}
