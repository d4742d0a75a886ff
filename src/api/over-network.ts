import { parseJson, stringifyJson } from '../contract/json.js'
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
    async steer(name, space, input = {}) {
      const { method, path, body } = VERBS[name as VerbName] as (typeof VERBS)[VerbName] & { readonly body?: string }
      const { address, rest } = fillPath(path, input)
      const query = new URLSearchParams(space === '' ? {} : { space })
      const sendsBody = method !== 'GET' && Object.keys(rest).length > 0
      if (!sendsBody) for (const [field, value] of Object.entries(rest)) query.set(field, String(value))
      const response = await ask(withQuery(address, query), {
        method,
        ...(sendsBody
          ? {
              body: stringifyJson(body === undefined ? rest : rest[body]),
              headers: { 'content-type': 'application/json' },
            }
          : {}),
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

/** Puts fields of the input into the path; what is left goes elsewhere. */
function fillPath(path: string, input: object): { address: string; rest: Record<string, unknown> } {
  const rest: Record<string, unknown> = Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== undefined),
  )
  const address = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = rest[field]
    delete rest[field]
    return encodeURIComponent(String(value))
  })
  return { address, rest }
}

function withQuery(address: string, query: URLSearchParams): string {
  return query.size === 0 ? address : `${address}?${query}`
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
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const exchange = readExchange(event)
        if (exchange !== undefined) yield exchange
      }
    }
  } catch (error) {
    if (!signal?.aborted) throw error
  }
}

/** @source HTML standard, server-sent events: `event:` and `data:` lines */
function readExchange(event: string): Exchange | undefined {
  const lines = event.split('\n')
  if (!lines.includes('event: exchange')) return undefined
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length))
  return parseJson(data.join('\n')) as Exchange
}
