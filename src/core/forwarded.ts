import type { WireFault } from '../domain/faults.js'
import type { ServiceRequest } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'

/** What is kept of a request while the real service is asked; all else follows from it when the answer comes. */
export interface Forwarded {
  /** Name of its space. */
  readonly space: string
  /** Its space was removed since: what has its name now is another one. */
  readonly isSpaceGone: boolean
  /** The API key without its space; undefined if none was sent. */
  readonly token: string | undefined
  readonly request: ServiceRequest
  /** What was decided when it came: the window that its headers show, and what is done to its answer on the wire. */
  readonly shown: WindowView | undefined
  readonly fault: WireFault | undefined
}

/** The same as plain data. */
export interface SavedForwarded extends Omit<Forwarded, 'request'> {
  /** Of the command of the request. */
  readonly position: number
  readonly request: Omit<ServiceRequest, 'body'> & { readonly body: SavedBody }
}

/** Bytes as numbers, or why it was not read; null for none. */
type SavedBody = readonly number[] | 'too-large' | 'no-room' | null

export function saveForwarded(position: number, { request, ...kept }: Forwarded): SavedForwarded {
  const { body = null } = request
  return { position, ...kept, request: { ...request, body: body instanceof Uint8Array ? [...body] : body } }
}

/** @returns it, by the position of its command */
export function loadForwarded({ position, request, ...kept }: SavedForwarded): readonly [number, Forwarded] {
  const { body } = request
  return [
    position,
    { ...kept, request: { ...request, body: isBytes(body) ? Uint8Array.from(body) : (body ?? undefined) } },
  ]
}

function isBytes(body: SavedBody): body is readonly number[] {
  return Array.isArray(body)
}
