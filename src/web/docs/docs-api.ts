import { parseJson } from '../../contract/json.js'
import type { SpaceView, StateView } from '../../control/views.js'
import { isSpaceName } from '../../domain/space-name.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { controlHeaders } from '../control-token.js'
import { SANDBOX_ADDRESS } from '../sandbox-address.js'
import { ContractModel } from './contract-model.js'
import type { JsonMap } from './json-map.js'
import type { SampleRequest } from './sample-request.js'

/** The control plane requires its token, or another one than was sent. */
export class TokenNeeded extends Error {}

/** What the page is about. */
export interface Served {
  readonly contract: ContractModel
  readonly state: StateView
}

/** An answer of the service, as it came. */
export interface Answer {
  readonly status: number
  readonly statusText: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Of its exchange in the log, undefined where that is not found. */
  readonly exchange: number | undefined
}

/** Reads the contract that is served, and the keys of the space. */
export async function readServed(space: string): Promise<Served> {
  const [text, state] = await Promise.all([read('openapi.json'), readState(space)])
  return { contract: new ContractModel(parseJson(text) as JsonMap), state }
}

/** A space that is not open yet is opened by the first request from here, and begins with the keys of all. */
export async function readState(space: string): Promise<StateView> {
  const open = space === '' ? [] : (JSON.parse(await read('spaces')) as readonly SpaceView[])
  // What is no name at all is left to the sandbox to refuse.
  if (space === '' || (isSpaceName(space) && !open.some(({ name }) => name === space)))
    return { ...(JSON.parse(await read('state')) as StateView), space }
  return JSON.parse(await read(`state?space=${encodeURIComponent(space)}`)) as StateView
}

/** Sends a request to the service, and finds its exchange. */
export async function send(request: SampleRequest, space: string): Promise<Answer> {
  const { method, url, headers, body } = request
  const response = await fetch(url, {
    method,
    headers: Object.fromEntries(headers),
    cache: 'no-store',
    ...(body === undefined ? {} : { body }),
  })
  const text = await response.text()
  return {
    status: response.status,
    statusText: response.statusText,
    headers: Object.fromEntries(response.headers),
    body: text,
    exchange: await exchangeOf(request, space).catch(() => undefined),
  }
}

/** The newest exchange that is this request. */
async function exchangeOf({ method, url }: SampleRequest, space: string): Promise<number | undefined> {
  const { href, search } = new URL(url)
  const path = href.slice(SANDBOX_ADDRESS.length).replace(/\?.*$/, '')
  const query = space === '' ? '' : `&space=${encodeURIComponent(space)}`
  const exchanges: readonly Exchange[] = JSON.parse(await read(`requests?limit=20${query}`))
  return exchanges.findLast(
    (exchange) => exchange.method === method && exchange.path === path && `?${exchange.query}` === (search || '?'),
  )?.id
}

/**
 * Reads from the control plane.
 *
 * @param path relative to the page: `state`
 * @throws TokenNeeded; Error with a message to show otherwise
 */
async function read(path: string): Promise<string> {
  const response = await fetch(path, { headers: controlHeaders() }).catch((error: unknown) => {
    throw new Error('The sandbox does not answer. Start it again, then reload this page.', { cause: error })
  })
  if (response.status === 401) throw new TokenNeeded('The control plane requires its token.')
  const text = await response.text()
  if (!response.ok) throw new Error(`The sandbox refuses: ${JSON.parse(text).message}`)
  return text
}
