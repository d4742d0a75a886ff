import { signal } from '@preact/signals'
import { parseJson } from '../contract/json.js'
import { verbRoutes } from '../control/generated/verb-routes.js'
import type { OptionalInput, VerbName, VerbOutput } from '../control/verb-map.js'
import { verbRequest } from '../control/verb-request.js'
import { errorIn } from './format.js'

const CONTROL_ADDRESS = new URL('.', document.baseURI).href.replace(/\/$/, '')
/** Without a trailing slash: an origin, or a path of a proxy. */
export const SANDBOX_ADDRESS = CONTROL_ADDRESS.replace(/\/__sandbox$/, '')

/** `locked`: the control plane requires a token. */
export const connection = signal<'connecting' | 'live' | 'lost' | 'locked'>('connecting')

export class TokenNeeded extends Error {}

/** In a variable only: other pages of this origin could read a storage. */
let enteredToken: string | undefined

export function enterControlToken(token: string): void {
  enteredToken = token
}

export function hasControlToken(): boolean {
  return enteredToken !== undefined
}

/** Keeps all digits of int64. */
export async function callVerb<Name extends VerbName>(
  verb: Name,
  space: string,
  ...[input]: OptionalInput<Name>
): Promise<VerbOutput<Name>> {
  const { method, address, body } = verbRequest(verbRoutes[verb], space, input as object | undefined)
  const response = await requestControl(address, {
    method,
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
  })
  return parseJson(await readText(response)) as VerbOutput<Name>
}

export async function servedContract(): Promise<Record<string, unknown>> {
  return parseJson(await readText(await requestControl('/openapi.json'))) as Record<string, unknown>
}

/** @throws TokenNeeded, or Error with a sentence */
export async function requestControl(address: string, init: RequestInit = {}): Promise<Response> {
  const authorization = enteredToken === undefined ? {} : { Authorization: `Bearer ${enteredToken}` }
  const response = await fetch(CONTROL_ADDRESS + address, {
    ...init,
    cache: 'no-store',
    headers: { ...authorization, ...init.headers },
  }).catch(() => {
    throw new Error('The sandbox is not responding.')
  })
  if (response.ok) return response
  if (response.status === 401) throw new TokenNeeded('The control plane requires its token.')
  throw new Error(errorIn(await readText(response)).message || `The sandbox returned ${response.status}.`)
}

export function readText(response: Response): Promise<string> {
  return response.text().catch(() => {
    throw new Error('The connection to the sandbox was lost.')
  })
}
