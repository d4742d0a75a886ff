import type { KeyHeader } from '../../contract/contract-data.js'
import type { StateView } from '../../control/views.js'
import { CONNECTION_HEADERS, KEY_REFERENCE } from '../../domain/curl.js'
import { addressOf } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import type { CodeRequest, OperationFacts } from '../request-code.js'

/** The headers of a request, except key and connection. */
export function ownHeaders({ headers }: Exchange['request'], keyHeader: KeyHeader | undefined) {
  const omitted = [...CONNECTION_HEADERS, keyHeader?.name.toLowerCase()]
  return Object.entries(headers).filter(([name]) => !omitted.includes(name))
}

/** With a reference instead of the key. @param sandbox address without a trailing slash */
export function recordedRequest(
  { method, key, operation, request, ...exchange }: Exchange,
  sandbox: string,
  { basePath, keyHeader }: Pick<StateView, 'basePath' | 'keyHeader'>,
  operations: readonly OperationFacts[],
): CodeRequest {
  return {
    method,
    url: sandbox + addressOf(exchange),
    headers: ownHeaders(request, keyHeader),
    key: key === 'none' ? undefined : KEY_REFERENCE,
    keyHeader,
    body: request.body === '' ? undefined : request.body,
    operation: operations.find(({ id }) => id === operation),
    baseUrl: sandbox + basePath,
  }
}

export function operationsIn({ paths }: { readonly paths?: unknown }): readonly OperationFacts[] {
  return Object.entries(Object(paths)).flatMap(([path, methods]) =>
    Object.values(Object(methods)).flatMap((operation) => {
      const { operationId: id } = Object(operation)
      return typeof id === 'string' ? [{ id, path }] : []
    }),
  )
}

export function httpText({
  method,
  url,
  headers,
  key,
  keyHeader: { name: keyName, prefix },
  body,
}: CodeRequest): string {
  const { host, origin } = new URL(url)
  return [
    `${method} ${url.slice(origin.length)} HTTP/1.1`,
    `Host: ${host}`,
    ...(key === undefined ? [] : [`${keyName}: ${prefix}${key}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    '',
    body ?? '',
  ].join('\n')
}
