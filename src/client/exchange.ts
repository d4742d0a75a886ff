import type { Environment } from '../system/environment.js'
import { type AnswerLimits, readBounded } from './bounded-body.js'
import { withDeadline } from './deadline.js'
import { openWay } from './dispatcher.js'
import type { Header } from './headers.js'
import { interimCounter } from './interim.js'
import { NoAnswerError } from './no-answer.js'

export interface ClientRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly Header[]
  readonly body: Uint8Array | undefined
}

export interface ServiceAnswer {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly Header[]
  readonly body: Buffer
}

/** The way to an instance of the service. */
export interface Exchange {
  /**
   * Sends a request once, and reads the answer whole, whatever its status; no redirect is followed.
   *
   * @param attempt which one this is, to be told
   * @throws NoAnswerError if no answer came, or one too large; the signal's reason once it is aborted
   */
  send(request: ClientRequest, limits: AnswerLimits, signal?: AbortSignal, attempt?: number): Promise<ServiceAnswer>
  /** Closes what is open, or it would keep the process. */
  close(): Promise<void>
}

/**
 * Opens the way to an instance: straight if it is on this machine, else through the
 * proxies of the environment.
 *
 * @throws TargetError if a proxy that it would go through is none
 */
export async function openExchange(baseUrl: string, env: Environment): Promise<Exchange> {
  const { dispatcher, proxy } = await openWay(baseUrl, env)
  const { request: exchange } = await import('./undici.js')

  async function sendOnce(
    request: ClientRequest,
    { maxBody }: AnswerLimits,
    signal: AbortSignal,
  ): Promise<ServiceAnswer> {
    const { method, url, headers, body } = request
    const response = await exchange(url, {
      dispatcher,
      signal,
      onInfo: interimCounter(),
      method: method as 'GET',
      headers: headers.flat(),
      ...(body === undefined ? {} : { body }),
    })
    const said = method === 'HEAD' ? undefined : response.headers['content-length']
    const read = await readBounded(response.body, maxBody, said)
    return {
      status: response.statusCode,
      // undici loses it on the way through a proxy.
      statusText: response.statusText ?? '',
      headers: headerList(response.headers),
      body: Buffer.from(read.buffer),
    }
  }

  return {
    async send(request, limits, signal, attempt = 1) {
      try {
        return await withDeadline(limits.timeout, signal, (inner) => sendOnce(request, limits, inner))
      } catch (error) {
        signal?.throwIfAborted()
        throw NoAnswerError.from(error, {
          url: request.url,
          timeout: limits.timeout,
          attempts: attempt,
          proxy,
        })
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function headerList(headers: Readonly<Record<string, string | string[] | undefined>>): readonly Header[] {
  return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((one): Header => [name, one]))
}
