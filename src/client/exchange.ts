import { isUtf8 } from 'node:buffer'
import type { Dispatcher } from 'undici'
import type { EngineRequest, EngineResponse } from '../contract/engine.js'
import { parseShallowJson } from '../contract/json.js'
import { type Bytes, MIB } from '../domain/numbers.js'
import { headerInList } from '../domain/request-headers.js'
import { addressOf } from '../domain/space-address.js'
import type { Environment } from '../system/this-process.js'
import { decompress } from './decompress.js'
import { openDispatcher } from './dispatcher.js'
import { type Header, joinedHeaders } from './headers.js'
import { type ResponseLimits, readBounded, withDeadline } from './limits.js'
import { NoResponseError } from './no-response.js'

export interface ClientRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly Header[]
  readonly body: Uint8Array | undefined
}

export interface ServiceResponse {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly Header[]
  readonly body: Buffer
}

export interface Exchange {
  /** Sends once. Redirects are not followed. @throws NoResponseError; the signal's reason once it is aborted */
  send(request: ClientRequest, limits: ResponseLimits, signal?: AbortSignal): Promise<ServiceResponse>
  /** Open connections would keep the process alive. */
  close(): Promise<void>
}

/** Uses the proxies of the environment for other machines. @throws TargetError if a proxy variable is invalid */
export async function openExchange(baseUrl: string, env: Environment): Promise<Exchange> {
  const { dispatcher, proxy } = await openDispatcher(baseUrl, env)
  return {
    async send({ method, url, headers, body }, { timeout, spent = 0, maxBody }, signal) {
      const { origin, pathname, search } = new URL(url)
      const options = {
        origin,
        path: pathname + search,
        method: method as 'GET',
        headers: headers.flat(),
        body: body ?? null,
      }
      try {
        const response = await exchangeOnce(dispatcher, options, { timeout: timeout - spent, maxBody, signal })
        return { ...response, headers: pairsIn(response.headers) }
      } catch (error) {
        signal?.throwIfAborted()
        throw NoResponseError.from(error, { url, timeout, proxy })
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function pairsIn(list: readonly string[]): readonly Header[] {
  return list.flatMap((name, place): Header[] => (place % 2 === 0 ? [[name.toLowerCase(), list[place + 1] ?? '']] : []))
}

/** A response with its body decompressed. */
export interface RawResponse {
  readonly status: number
  readonly statusText: string
  /** Flat list: name, value, name, value … */
  readonly headers: readonly string[]
  readonly body: Buffer
}

interface ExchangeTerms extends ResponseLimits {
  readonly signal?: AbortSignal | undefined
}

/** Sends once, and reads the whole response. @throws TimeoutError, TooLargeError, UndecodableError, undici's errors */
export function exchangeOnce(
  dispatcher: Dispatcher,
  options: Dispatcher.RequestOptions,
  { timeout, maxBody, signal: outer }: ExchangeTerms,
): Promise<RawResponse> {
  return withDeadline(timeout, outer, async (signal) => {
    const response = await dispatcher.request({ ...options, signal, responseHeaders: 'raw' })
    const { statusCode: status, statusText, body } = response
    // undici's types do not know that headers are a list then.
    const headers = response.headers as unknown as readonly string[]
    const length = options.method === 'HEAD' ? undefined : headerInList(headers, 'content-length')
    const { buffer } = await readBounded(body, maxBody, length)
    const bytes = await decompress(Buffer.from(buffer), headerInList(headers, 'content-encoding'), maxBody)
    return { status, statusText, headers, body: bytes }
  })
}

export interface Service {
  ask(request: EngineRequest): Promise<EngineResponse>
  close(): Promise<void>
}

export function engineResponse({ status, headers, body }: ServiceResponse): EngineResponse {
  return { status, headers: joinedHeaders(headers), body: body.toString('utf8'), isUtf8: isUtf8(body) }
}

export async function openService(baseUrl: string, env: Environment, limits: ResponseLimits): Promise<Service> {
  const exchange = await openExchange(baseUrl, env)
  return {
    async ask({ method, path, query, headers, body }) {
      const response = await exchange.send(
        {
          method,
          url: baseUrl + addressOf({ path, query }),
          headers: Object.entries(headers),
          body: body === '' ? undefined : Buffer.from(body),
        },
        limits,
      )
      return engineResponse(response)
    },
    close: exchange.close,
  }
}

/** Many more than a documented body has. To lay out 60 MB of brackets would take 3 GB and a minute. */
const MAX_PARSED: Bytes = 8 * MIB

type ReadBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'empty' }

export function readBody({ body }: Pick<ServiceResponse, 'body'>): ReadBody {
  const text = body.toString('utf8')
  if (text === '') return { kind: 'empty' }
  if (body.length > MAX_PARSED) return { kind: 'text', text }
  try {
    return { kind: 'json', value: parseShallowJson(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { kind: 'text', text }
  }
}
