import { type ControlResponse, fetchControl } from '../client/control-fetch.js'
import type { ControlRequest } from '../client/control-message.js'
import { requestControl } from '../client/control-request.js'
import { isTimeout, type ResponseLimits, readBounded, TooLargeError, withDeadline } from '../client/limits.js'
import { parseShallowJson } from '../contract/json.js'
import { ControlError } from '../control/control-error.js'
import { EventReader } from '../control/event-reader.js'
import { verbRoutes } from '../control/generated/verb-routes.js'
import { CONTROL_PATH, readControlUrl } from '../control/path.js'
import type { VerbName } from '../control/verb-map.js'
import { verbRequest, withQuery } from '../control/verb-request.js'
import type { StateView } from '../control/views.js'
import { type Bytes, MIB } from '../domain/numbers.js'
import { spacePath } from '../domain/space-address.js'
import { formatDuration, parseDuration } from '../domain/time.js'
import type { Exchange } from '../exchanges/exchange-record.js'
import type { Transport } from './call-verb.js'
import { type ConnectedSandbox, sandboxControls } from './controls.js'
import type { RequestFilter } from './inputs.js'

export interface NetworkOptions {
  /** Token of a control plane that requires one. */
  readonly token?: string
  /** Time limit of a response, or of the start of a stream: `10s`. Default: `1m`. */
  readonly timeout?: string
}

/** More than a full log or a million pets: an endless response must not fill the memory. */
const MAX_RESPONSE: Bytes = 256 * MIB
const MAX_REFUSAL: Bytes = MIB

/**
 * Connects to a running sandbox: the same methods as in process. Sends nothing before the first call.
 *
 * @param controlUrl the sandbox's address: `http://127.0.0.1:4010`, its base address, or its control plane's address
 * @throws ControlError `invalid_request` if it is not an http or https address
 */
export function connectSandbox(controlUrl: string, options: NetworkOptions = {}): ConnectedSandbox {
  const transport = overNetwork(controlUrl, options)
  const root = controlUrlIn(controlUrl).slice(0, -CONTROL_PATH.length)
  return sandboxControls(transport, (space) => ({
    async baseUrl() {
      const { basePath } = (await transport.call('state', '')) as StateView
      return root + spacePath(space) + basePath
    },
  }))
}

/** @throws ControlError `invalid_request` if the address or the timeout is invalid */
export function overNetwork(address: string, { token, timeout = '1m' }: NetworkOptions = {}): Transport {
  const base = controlUrlIn(address)
  const limits = { timeout: parseDuration(timeout) ?? 0, maxBody: MAX_RESPONSE }
  if (limits.timeout === 0) {
    throw new ControlError('invalid_request', `timeout ${JSON.stringify(timeout)}: must be a duration such as 10s.`)
  }
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const unreachable = (error: unknown) => whyUnreachable(base, error, limits)

  async function call(name: string, space: string, input?: object, isLast = false): Promise<unknown> {
    const { method, address, body } = verbRequest(verbRoutes[name as VerbName], space, input)
    const json = body === undefined ? {} : { body, headers: { ...headers, 'content-type': 'application/json' } }
    const response = await fetchControl(base + address, { method, headers, ...json, isLast }, limits).catch((error) => {
      throw unreachable(error)
    })
    if (response.status !== 200) throw refusal(base, response)
    return readResponse(base, response.text)
  }

  return {
    call: (name, space, input) => call(name, space, input),
    look: async (space) => (await call('state', space, undefined, true)) as StateView,
    async handle() {
      throw new ControlError('conflict', "Handlers need the sandbox's own process: start it with --handlers.")
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
    // The deadline is for the start of the stream only.
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
      for await (const chunk of body) {
        for (const { event, data } of events.read(decoder.decode(chunk, { stream: true }))) {
          if (signal?.aborted) return
          if (event === 'ended') yield readResponse(base, data) as Exchange
        }
      }
    } catch (error) {
      if (signal?.aborted) return
      throw error instanceof ControlError
        ? error
        : new ControlError('unreachable', `The connection to the sandbox at ${base} was lost.`)
    } finally {
      signal?.removeEventListener('abort', cut)
      cut()
    }
  }
}

function controlUrlIn(address: string): string {
  const controlUrl = readControlUrl(address)
  if (controlUrl !== undefined) return controlUrl
  const form = 'must be the address of a sandbox, for example http://127.0.0.1:4010, without user, password and query'
  throw new ControlError('invalid_request', `controlUrl: ${form}.`)
}

async function openStream(base: string, address: string, request: ControlRequest): Promise<AsyncIterable<Uint8Array>> {
  const { status, body } = await requestControl(base + address, request)
  if (status === 200) return body
  throw refusal(base, { status, text: new TextDecoder().decode(await readBounded(body, MAX_REFUSAL)) })
}

function whyUnreachable(base: string, error: unknown, { timeout }: ResponseLimits): ControlError {
  if (error instanceof ControlError) return error
  if (isTimeout(error)) {
    return new ControlError('timeout', `${base} did not respond within ${formatDuration(timeout)}.`)
  }
  if (error instanceof TooLargeError)
    return new ControlError('unreachable', `${base}: ${error.message}. Check the address.`)
  const cause: unknown = error instanceof Error && error.cause !== undefined ? error.cause : error
  const why = cause instanceof Error ? cause.message || String(Reflect.get(cause, 'code')) : String(cause)
  return new ControlError('unreachable', `No sandbox is running at ${base} (${why}). Check the address.`)
}

function readResponse(base: string, text: string): unknown {
  try {
    return parseShallowJson(text)
  } catch {
    throw new ControlError('unreachable', `The response of ${base} is not from a sandbox. Check the address.`)
  }
}

function refusal(base: string, { status, text }: ControlResponse): ControlError {
  try {
    const { code, message, example }: Readonly<Record<string, unknown>> = Object(parseShallowJson(text))
    if (typeof code === 'string' && typeof message === 'string')
      return new ControlError(code, message, typeof example === 'string' ? example : undefined)
  } catch {
    // Another server's body.
  }
  return new ControlError('unreachable', `${base} responded with ${status}, but not as a sandbox. Check the address.`)
}
