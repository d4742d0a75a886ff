import { shellWord } from '../../domain/curl.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { curlOf, OWN_HEADERS } from './curl.js'
import { addressOf } from './exchange-filter.js'

/** An operation of the contract, as far as a command needs it. */
export interface OperationFacts {
  readonly id: string
  readonly method: string
  /** `/pets/{petId}` */
  readonly path: string
}

/** What code is written from. */
interface CodeContext {
  readonly exchange: Exchange
  /** Its address, without a slash at its end. */
  readonly sandbox: string
  readonly basePath: string
  readonly operations: readonly OperationFacts[]
}

/** The request of an exchange in other words; none has the key itself. */
export const CODE_FORMS: Readonly<Record<string, (context: CodeContext) => string>> = {
  curl: ({ exchange, sandbox }) => curlOf(exchange, sandbox),
  fetch: fetchOf,
  call: callOf,
  HTTP: httpOf,
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is one in the code that is written
const KEY_OF_NODE = '    authorization: `Bearer ${process.env.PETSTORE_API_KEY}`,'

function fetchOf({ exchange, sandbox }: CodeContext): string {
  const { method, key, request } = exchange
  const lines = [
    ...(key === 'none' ? [] : [KEY_OF_NODE]),
    ...headersOf(exchange).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: ${JSON.stringify(method)},`]),
    ...(lines.length === 0 ? [] : ['  headers: {', ...lines, '  },']),
    ...(request.body === '' ? [] : [`  body: ${JSON.stringify(request.body)},`]),
  ]
  const url = JSON.stringify(sandbox + addressOf(exchange))
  return options.length === 0
    ? `const response = await fetch(${url})`
    : [`const response = await fetch(${url}, {`, ...options, '})'].join('\n')
}

function callOf({ exchange, sandbox, basePath, operations }: CodeContext): string {
  const operation = operations.find(({ id }) => id === exchange.operation)
  if (operation === undefined) return '# call sends operations of the contract only; this request is none of them.'
  const { path, query, request } = exchange
  const parts = path.slice(basePath.length).split('/')
  const named = operation.path.split('/')
  const captured = parts.filter((_, index) => named[index]?.startsWith('{')).map(decoded)
  const flags = [...new URLSearchParams(query)].flatMap(([name, value]) => [`--${kebab(name)}`, value])
  const body = request.body === '' ? [] : ['--body', request.body]
  const words = ['call', operation.id, ...captured, ...flags, ...body, '--base-url', sandbox + basePath]
  return `petstore-sandbox ${words.map(shellWord).join(' ')}`
}

function httpOf({ exchange, sandbox }: CodeContext): string {
  const { method, key, request } = exchange
  const { host, pathname } = new URL(sandbox)
  return [
    `${method} ${pathname.replace(/\/$/, '')}${addressOf(exchange)} HTTP/1.1`,
    `Host: ${host}`,
    ...(key === 'none' ? [] : ['Authorization: Bearer $PETSTORE_API_KEY']),
    ...headersOf(exchange).map(([name, value]) => `${name}: ${value}`),
    '',
    request.body,
  ].join('\n')
}

function headersOf({ request }: Exchange): readonly (readonly [string, string])[] {
  return Object.entries(request.headers).filter(([name]) => !OWN_HEADERS.has(name))
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
