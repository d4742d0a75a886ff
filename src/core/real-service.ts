import type { FaultRule } from '../domain/faults.js'
import type { SentKey } from '../domain/keys.js'
import type { ServiceRequest } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'
import type { Forward, UpstreamOutcome, UpstreamWrites } from '../domain/upstream.js'
import type { ContractViolation, SeenExchange } from '../drift/find-violations.js'

export interface RealServiceRules {
  readonly baseUrl: string
  /** Whether a key of the real service was given. It is sent in place of all known keys. */
  readonly hasKey: boolean
  readonly writes: UpstreamWrites
  /** How a response drifts from the contract. */
  violationsOf(exchange: SeenExchange): readonly ContractViolation[]
}

export interface RealService extends RealServiceRules {
  /** Masked in everything that is kept. */
  readonly secrets: readonly string[]
  /** Never rejects. @param left aborted when the client has left */
  send(forward: Forward, left?: AbortSignal): Promise<UpstreamOutcome>
  close(): Promise<void>
}

/** A request under way to the real service. */
export interface Forwarded {
  readonly space: string
  /** The space was removed since then. A new space may have its name. */
  readonly isSpaceRemoved: boolean
  /** Undefined if no key was sent. */
  readonly sent: SentKey | undefined
  readonly unknownSpace?: string | undefined
  readonly request: ServiceRequest
  readonly shown: WindowView | undefined
  readonly fault: FaultRule | undefined
}

export interface SavedForwarded extends Omit<Forwarded, 'request'> {
  readonly position: number
  readonly request: Omit<ServiceRequest, 'body'> & { readonly body: SavedBody }
}

type SavedBody = readonly number[] | 'too-large' | 'no-room' | null

export function saveForwarded(position: number, { request, ...kept }: Forwarded): SavedForwarded {
  const { body = null } = request
  return { position, ...kept, request: { ...request, body: body instanceof Uint8Array ? [...body] : body } }
}

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
