import { parseJson } from '../../contract/json.js'
import { EventReader, type ServerEvent } from '../../control/event-reader.js'
import type { OptionalInput, VerbName, VerbOutput } from '../../control/verb-map.js'
import { type VerbRoute, verbRequest, withQuery } from '../../control/verb-request.js'
import { controlHeaders } from '../control-token.js'
import type { OperationFacts } from './request-code.js'

/** Of the sandbox's one table of verbs, put in when the page is built. */
declare const VERB_ROUTES: Readonly<Record<VerbName, VerbRoute>>
/** Where the control plane is, relative to the page; put in when the page is built. */
declare const CONTROL_ADDRESS: string

/** The control plane refused; its sentence says why. */
class Refusal extends Error {}

/** The control plane requires a token, or a different one. */
export class TokenNeeded extends Error {}

/** No sandbox answers. */
class Unreachable extends Error {}

/** Does a verb to a space: the page's one way to the sandbox, beside the stream. int64 are read digit for digit. */
export async function callVerb<Name extends VerbName>(
  verb: Name,
  space: string,
  ...[input]: OptionalInput<Name>
): Promise<VerbOutput<Name>> {
  const { method, address, body } = verbRequest(VERB_ROUTES[verb], space, input)
  const response = await ask(address, {
    method,
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
  })
  // What each verb answers is known from the table of verbs; the browser tests hold the two together.
  return parseJson(await textOf(response)) as VerbOutput<Name>
}

/** The operations of the contract being served. */
export async function operationsServed(): Promise<readonly OperationFacts[]> {
  interface Document {
    readonly paths?: Readonly<
      Record<string, Readonly<Record<string, { readonly operationId?: unknown } | null>> | null>
    >
  }
  const { paths = {} }: Document = await (await ask('/openapi.json', {})).json()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods ?? {}).flatMap(([method, operation]) => {
      const id = operation?.operationId
      return typeof id === 'string' ? [{ id, method: method.toUpperCase(), path }] : []
    }),
  )
}

/**
 * Exchanges of a space as they happen. Read with fetch, since EventSource cannot send a token.
 *
 * @returns once the sandbox listens: nothing that happens from then on is missed
 */
export async function followExchanges(space: string, signal: AbortSignal): Promise<AsyncIterable<ServerEvent[]>> {
  const query = new URLSearchParams(space === '' ? {} : { space })
  const { body } = await ask(withQuery('/requests/stream', query), { signal })
  if (body === null) throw new Unreachable('The sandbox sent nothing.')
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  const first = await reader.read()
  return eventsOf(reader, first.value ?? '')
}

async function* eventsOf(reader: ReadableStreamDefaultReader<string>, first: string): AsyncGenerator<ServerEvent[]> {
  const events = new EventReader()
  let piece = first
  for (;;) {
    yield [...events.read(piece)]
    const { done, value } = await reader.read()
    if (done) return
    piece = value
  }
}

async function ask(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(CONTROL_ADDRESS + address, {
    ...init,
    cache: 'no-store',
    headers: { ...controlHeaders(), ...init.headers },
  }).catch(() => {
    throw new Unreachable('The sandbox is not responding.')
  })
  if (response.ok) return response
  if (response.status === 401) throw new TokenNeeded('The control plane requires its token.')
  throw new Refusal(messageIn(await textOf(response)) ?? `The sandbox answered ${response.status}.`)
}

async function textOf(response: Response): Promise<string> {
  return response.text().catch(() => {
    throw new Unreachable('The connection to the sandbox was lost.')
  })
}

function messageIn(text: string): string | undefined {
  try {
    const { message }: { readonly message?: unknown } = JSON.parse(text)
    return typeof message === 'string' ? message : undefined
  } catch {
    return undefined
  }
}
