import type { Operation, Reading } from '../contract/contract.js'
import type { WireFault } from '../domain/faults.js'
import type { Answer, ServiceRequest } from '../domain/messages.js'
import type { WindowView } from '../domain/quota.js'
import type { EpochMs } from '../domain/time.js'
import type { Caller } from './callers.js'
import type { World } from './space.js'

/** Where a request leads. */
export type ServiceRoute =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly captured: readonly string[] }
  | { readonly kind: 'method-not-allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'unknown' }
  /** Not under the base path. */
  | { readonly kind: 'outside' }

/** A request on its way through the gates, with what they have found out about it. */
export interface Visit {
  readonly world: World
  readonly request: ServiceRequest
  readonly now: EpochMs
  readonly path: string
  readonly query: string
  readonly route: ServiceRoute
  readonly caller: Caller
  /** The window that the headers of the answer show, once somebody has decided. */
  shown: WindowView | undefined
  /** A fault that the answer is to suffer on the wire. */
  fault: WireFault | undefined
  readings: Readings | undefined
  /** It came as far as the quota, or was kept from it by a ban. */
  asksForQuota: boolean
}

type Values = Readonly<Record<string, unknown>>

/** What the request says, read by its operation's contract; body only where one is taken. */
export interface Readings {
  readonly path: Reading<Values>
  readonly query: Reading<Values>
  readonly body: Reading<Values> | undefined
}

/** Asks one question of a visit: answers it, or lets it pass (undefined). */
export type Gate = (visit: Visit) => Answer | Promise<Answer> | undefined

/** Does what was asked, by what the request says; its readings have no violations. */
export type Handler = (visit: Visit, readings: Readings) => Answer | Promise<Answer>
