import { CONNECTION_HEADERS, KEY_REFERENCE } from '../../advice/curl.js'
import type { KeyHeader } from '../../contract/contract-data.js'
import type { StateView } from '../../control/views.js'
import { loggedKeyText } from '../../domain/keys.js'
import { OWN_CLIENT_HEADER } from '../../domain/messages.js'
import { addressOf, spacePath } from '../../domain/space-address.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import { isCut, NO_CHARACTER } from '../../exchanges/kept-body.js'
import type { CodeRequest } from '../request-code.js'

/** Headers that HTTP libraries and browsers add. */
const LIBRARY_HEADER = /^(?:accept-language|cache-control|dnt|origin|pragma|priority|referer|sec-.*|user-agent)$/

/** The headers of a request, except key, connection, and those that its library adds. */
export function ownHeaders({ headers }: Exchange['request'], keyHeader: KeyHeader | undefined) {
  const omitted = [...CONNECTION_HEADERS, OWN_CLIENT_HEADER, keyHeader?.name.toLowerCase()]
  return Object.entries(headers).filter(
    ([name, value]) => !omitted.includes(name) && !LIBRARY_HEADER.test(name) && `${name} ${value}` !== 'accept */*',
  )
}

/** The key of an exchange, without its space; undefined if the log does not have it. */
function sentKey({ key, sender }: Exchange, keys: StateView['keys']): string | undefined {
  return keys.some((known) => known.key === key && !known.secret) ? loggedKeyText({ key, sender }) : undefined
}

/** With a reference instead of a real key. @param sandbox address without a trailing slash */
export function recordedRequest(
  exchange: Exchange,
  sandbox: string,
  { keyHeader, keys }: Pick<StateView, 'keyHeader' | 'keys'>,
): CodeRequest {
  const { method, key, request, space } = exchange
  return {
    method,
    url: sandbox + spacePath(space) + addressOf(exchange),
    headers: ownHeaders(request, keyHeader),
    key: key === 'none' ? undefined : (sentKey(exchange, keys) ?? KEY_REFERENCE),
    keyHeader,
    body: request.body === '' ? undefined : request.body,
    isPartial: isCut(request) || request.body.includes(NO_CHARACTER),
  }
}

export interface OperationFacts {
  readonly id: string
  readonly method: string
  readonly path: string
  /** When it is removed: ISO 8601. */
  readonly sunset: string | undefined
}

export function operationsIn({ paths }: { readonly paths?: unknown }): readonly OperationFacts[] {
  return Object.entries(Object(paths)).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).flatMap(([method, operation]) => {
      const { operationId: id, 'x-deprecated-sunset': sunset } = Object(operation)
      return typeof id === 'string' ? [{ id, method, path, sunset }] : []
    }),
  )
}
