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
 * GET and DELETE, and beside a body that is one field.
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
  const sent = body === undefined ? rest : rest[body]
  // Node's client sends the body of a DELETE without a length, so that a server does not see it.
  const sendsBody = method !== 'GET' && method !== 'DELETE' && Object.keys(rest).length > 0 && sent !== undefined
  const query = new URLSearchParams(space === '' ? {} : { space })
  for (const [field, value] of Object.entries(rest))
    if (!sendsBody || (body !== undefined && field !== body)) query.set(field, String(value))
  return {
    method,
    address: withQuery(filled, query),
    body: sendsBody ? stringifyJson(sent) : undefined,
  }
}

export function withQuery(address: string, query: URLSearchParams): string {
  const text = query.toString()
  return text === '' ? address : `${address}?${text}`
}
