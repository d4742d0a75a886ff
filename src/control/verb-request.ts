import { stringifyJson } from '../contract/json.js'

export interface VerbRoute {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: string
}

export interface VerbRequest {
  readonly method: VerbRoute['method']
  /** Path below the control plane, with the query. */
  readonly address: string
  readonly body: string | undefined
}

/**
 * Creates the request of a verb. Path parameters go into the path, other fields into the body, or into the query for
 * GET and DELETE.
 */
export function verbRequest({ method, path, body }: VerbRoute, space: string, input: object = {}): VerbRequest {
  const rest: Record<string, unknown> = Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  )
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest[field]
    delete rest[field]
    return encodeURIComponent(String(value))
  })
  // Node's client sends the body of a DELETE without a length, so that a server does not see it.
  const sendsBody = method !== 'GET' && method !== 'DELETE' && Object.keys(rest).length > 0
  const query = new URLSearchParams(space === '' ? {} : { space })
  if (!sendsBody) for (const [field, value] of Object.entries(rest)) query.set(field, String(value))
  return {
    method,
    address: withQuery(filled, query),
    body: sendsBody ? stringifyJson(body === undefined ? rest : rest[body]) : undefined,
  }
}

export function withQuery(address: string, query: URLSearchParams): string {
  const text = query.toString()
  return text === '' ? address : `${address}?${text}`
}
