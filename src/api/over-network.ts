import { type AnswerLimits, piecesOf, readBounded, TooLargeError } from '../client/bounded-body.js'
import { type ControlAnswer, fetchControl } from '../client/control-fetch.js'
import { isTimeout, withDeadline } from '../client/deadline.js'
import { parseShallowJson } from '../contract/json.js'
import { EventReader } from '../control/event-reader.js'
import type { RequestFilter, VerbName, VerbOutput } from '../control/verb-map.js'
import { verbRequest, withQuery } from '../control/verb-request.js'
import { verbRoutes } from '../control/verb-routes.js'
import { type Bytes, MIB } from '../domain/size.js'
import { formatDuration, parseDuration } from '../domain/time.js'
import type { Exchange } from '../exchanges/exchange-view.js'
import { ControlError, type Transport } from './controls.js'

export interface NetworkOptions {
  /** Token of a control plane that requires one. */
  readonly token?: string
  /** How long it may take to answer a verb, or to begin with a stream: `10s`. A minute if nothing is said. */
  readonly timeout?: string
}

/** More than a full log or a million pets; what is endless must not fill the memory. */
const LARGEST_ANSWER: Bytes = 256 * MIB
/** Of a refusal, whose body is an error's. */
const LARGEST_REFUSAL: Bytes = MIB

/**
 * Verbs of a sandbox over its control plane.
 *
 * @param controlUrl for example `http://127.0.0.1:4010/__sandbox`
 * @throws ControlError `invalid_request` if the timeout is no duration
 */
export function overNetwork(controlUrl: string, { token, timeout = '1m' }: NetworkOptions = {}): Transport {
  const base = controlUrl.replace(/\/+$/, '')
  const limits = { timeout: parseDuration(timeout) ?? 0, maxBody: LARGEST_ANSWER }
  if (limits.timeout === 0) {
    throw new ControlError('invalid_request', `timeout ${JSON.stringify(timeout)}: must be a duration such as 10s.`)
  }
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const unreachable = (error: unknown) => whyUnreachable(base, error, limits)

  return {
    async call<Name extends VerbName>(name: Name, space: string, input?: object) {
      const { method, address, body } = verbRequest(verbRoutes[name], space, input)
      const withBody = body === undefined ? {} : { body }
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const init = { method, headers: { ...headers, ...type }, ...withBody }
      const answer = await fetchControl(base + address, init, limits).catch((error) => {
        throw unreachable(error)
      })
      if (answer.status !== 200) throw refusal(base, answer)
      return readAnswer(base, answer.text) as VerbOutput<Name>
    },
    follow: (space, filter, signal) => follow(space, filter, signal),
  }

  async function* follow(
    space: string,
    filter: RequestFilter,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Exchange> {
    const query = new URLSearchParams(space === '' ? {} : { space })
    for (const [field, value] of Object.entries(filter)) if (value !== undefined) query.set(field, String(value))
    // Of the stream itself, which may last; the deadline is for its beginning.
    const stream = new AbortController()
    const cut = () => stream.abort()
    signal?.addEventListener('abort', cut)
    try {
      const body = await withDeadline(limits.timeout, signal, () =>
        openStream(base, withQuery('/requests/stream', query), { headers, signal: stream.signal }),
      ).catch((error) => {
        throw unreachable(error)
      })
      const events = new EventReader()
      const decoder = new TextDecoder()
      for await (const chunk of piecesOf(body)) {
        for (const { event, data } of events.read(decoder.decode(chunk, { stream: true }))) {
          if (event === 'ended') yield readAnswer(base, data) as Exchange
        }
      }
    } catch (error) {
      if (!signal?.aborted) throw error
    } finally {
      signal?.removeEventListener('abort', cut)
      cut()
    }
  }
}

async function openStream(
  base: string,
  address: string,
  init: RequestInit,
): Promise<ReadableStream<Uint8Array> | null> {
  const { status, body } = await fetch(base + address, { ...init, redirect: 'manual' })
  if (status === 200) return body
  throw refusal(base, { status, text: new TextDecoder().decode(await readBounded(piecesOf(body), LARGEST_REFUSAL)) })
}

function whyUnreachable(base: string, error: unknown, { timeout }: AnswerLimits): ControlError {
  if (error instanceof ControlError) return error
  if (isTimeout(error)) {
    return new ControlError('timeout', `${base} did not answer within ${formatDuration(timeout)}.`)
  }
  if (error instanceof TooLargeError) return new ControlError('unreachable', `${base}: ${error.message}. Is it one?`)
  const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error
  const why = cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : String(cause)
  return new ControlError('unreachable', `No sandbox answers at ${base} (${why}). Is it running there?`)
}

function readAnswer(base: string, text: string): unknown {
  try {
    return parseShallowJson(text)
  } catch {
    throw new ControlError('unreachable', `${base} answered, but does not look like a sandbox. Is it one?`)
  }
}

function refusal(base: string, { status, text }: ControlAnswer): ControlError {
  try {
    const { code, message }: { readonly code?: unknown; readonly message?: unknown } = Object(parseShallowJson(text))
    if (typeof code === 'string' && typeof message === 'string') return new ControlError(code, message)
  } catch {
    // Not one of our error bodies.
  }
  return new ControlError('unreachable', `${base} answered ${status}, and does not look like a sandbox. Is it one?`)
}
