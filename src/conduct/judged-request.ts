import type { ArmedFault } from '../domain/faults.js'
import type { Account, AccountId, Caller } from '../domain/keys.js'
import type { DecodedRequest, ServiceRequest, ServiceRoute } from '../domain/messages.js'
import type { RecordId } from '../domain/records.js'
import type { Settings } from '../domain/settings.js'
import type { RunningStorm } from '../domain/storm.js'
import type { EpochMs } from '../domain/time.js'

export type BanRules = Pick<Settings, 'banAfter' | 'banDuration' | 'retryAfter'>

/** By the space's clock, and real time. */
export interface Now {
  readonly now: EpochMs
  readonly wall: EpochMs
}

/** When something happened, by both. */
export interface Moment {
  readonly at: EpochMs
  readonly wall: EpochMs
}

export interface Arrival extends Now {
  readonly request: Pick<ServiceRequest, 'connection' | 'deliveredUpTo' | 'sentUpTo' | 'headers'>
  /** Masks secrets, such as the key of the request itself. Undefined without any. */
  readonly hide?: ((text: string) => string) | undefined
}

export interface JudgedRequest extends Arrival {
  readonly request: ServiceRequest
  readonly path: string
  readonly query: string
  readonly route: ServiceRoute
  readonly caller: Caller
  /** Name in the baggage that is not an open space. */
  readonly unknownSpace?: string | undefined
  /** Undefined if they were not read. */
  readonly readings: DecodedRequest | undefined
  /** Undefined without a handler for the operation. */
  readonly handler: unknown
  readonly space: {
    readonly state: {
      readonly settings: BanRules & Pick<Settings, 'rateLimit' | 'senders'>
      readonly storm: RunningStorm | undefined
      readonly faults: readonly ArmedFault[]
      readonly accounts: { view(id: AccountId): Account }
    }
    readonly shared: { readonly basePath: string }
    /** Requests so far. */
    readonly requests: number
    hasRecord(record: RecordId): boolean
  }
  /** The record that the request has created; undefined in a service behind the sandbox. */
  readonly created?: RecordId | undefined
  /** Its response is that of an earlier one, by its Idempotency-Key. */
  readonly isReplay?: boolean
  /** Conditions that the sandbox does not check: `If-Match`. */
  readonly ignoredConditions?: readonly string[] | undefined
}
