import { parseJson } from '../contract/json.js'
import { EventReader } from '../control/event-reader.js'
import { verbRequest, withQuery } from '../control/verb-request.js'
import { VERBS, type VerbName } from '../control/verbs.js'
import type { Exchange } from '../space/exchange-view.js'
import { ControlError, type RequestFilter, type Transport } from './controls.js'

export interface NetworkOptions {
  /** Of a control plane that asks for one. */
  readonly token?: string
}

/**
 * Verbs of a sandbox over its control plane.
 *
 * @param controlUrl for example `http://127.0.0.1:4010/__sandbox`
 */
export function overNetwork(controlUrl: string, { token }: NetworkOptions = {}): Transport {
  const base = controlUrl.replace(/\/+$/, '')
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function ask(address: string, init: RequestInit): Promise<Response> {
    const response = await fetch(base + address, { ...init, headers: { ...headers, ...init.headers } }).catch(
      (error) => {
        const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error
        const why = cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : String(cause)
        throw new ControlError('unreachable', `No sandbox answers at ${base} (${why}). Is it running there?`)
      },
    )
    if (response.ok) return response
    throw await refusal(base, response)
  }

  return {
    async steer(name, space, input) {
      const { method, address, body } = verbRequest(VERBS[name as VerbName], space, input)
      const response = await ask(address, {
        method,
        ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
      })
      return readAnswer(base, await response.text())
    },
    follow: (space, filter, signal) => follow(ask, space, filter, signal),
  }
}

function readAnswer(base: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new ControlError('unreachable', `${base} answered, but not as a sandbox does. Is it one?`)
  }
}

async function refusal(base: string, response: Response): Promise<ControlError> {
  const text = await response.text()
  try {
    const { code, message } = parseJson(text) as { readonly code?: unknown; readonly message?: unknown }
    if (typeof code === 'string' && typeof message === 'string') return new ControlError(code, message)
  } catch {
    // Not ours, then.
  }
  return new ControlError('unreachable', `${base} answered ${response.status}, and not as a sandbox does. Is it one?`)
}

async function* follow(
  ask: (address: string, init: RequestInit) => Promise<Response>,
  space: string,
  filter: RequestFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<Exchange> {
  const query = new URLSearchParams(space === '' ? {} : { space })
  for (const [field, value] of Object.entries(filter)) if (value !== undefined) query.set(field, String(value))
  try {
    const { body } = await ask(withQuery('/requests/stream', query), signal === undefined ? {} : { signal })
    if (body === null) return
    const events = new EventReader()
    const decoder = new TextDecoder()
    for await (const chunk of body) {
      for (const { event, data } of events.read(decoder.decode(chunk, { stream: true }))) {
        if (event === 'exchange') yield parseJson(data) as Exchange
      }
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}
