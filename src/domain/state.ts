import type { Int64 } from '../contract/int64.js'
import type { BanRecord, EarlyRequest } from './ban.js'
import type { ArmedFault, FaultRule } from './faults.js'
import type { ApiKey } from './keys.js'
import type { Logins } from './logins.js'
import type { HandlerResult } from './messages.js'
import type { QuotaUsage, UsedUp } from './quota.js'
import type { RecordChange, SavedRecords } from './records.js'
import type { Settings } from './settings.js'
import type { RunningStorm, Storm } from './storm.js'
import type { ClockStart, DurationMs, EpochMs } from './time.js'

/** The durable part of a space. */
export interface StoredState {
  /** By name of the resource. */
  readonly records: readonly (readonly [resource: string, SavedRecords])[]
  /** What its file has beside the resources of the contract. */
  readonly others: readonly OtherContent[]
  readonly keys: readonly ApiKey[]
}

/** A list or an object that belongs to no resource: kept as it is. */
export interface OtherContent {
  readonly name: string
  readonly content: unknown
  /** What the file says about it, for a contract that has the resource. */
  readonly next?: Int64 | undefined
  readonly path?: string | undefined
  readonly parents?: readonly string[] | undefined
}

export const EMPTY_STATE: StoredState = { records: [], others: [], keys: [] }

/** Idempotent: applying a run of changes twice gives the same state. */
export type Change =
  | RecordChange
  | { readonly kind: 'key'; readonly key: ApiKey }
  | { readonly kind: 'key-removed'; readonly key: string }
  | { readonly kind: 'replaced'; readonly state: StoredState }

export interface SpaceStart {
  readonly settings: Settings
  readonly storm?: Storm
  readonly faults: readonly FaultRule[]
  readonly now?: ClockStart
  readonly freeze: boolean
  /** Requests already charged, by key. */
  readonly used: Readonly<Record<string, UsedUp>>
  readonly bans: Readonly<Record<string, DurationMs>>
}

/** The first response to an Idempotency-Key. */
export interface KeptResponse {
  /** Label of a key, or an address. */
  readonly by: string
  /** Operation, path and Idempotency-Key. */
  readonly id: string
  /** Digest of the body of the request. */
  readonly body: string
  readonly at: EpochMs
  readonly response: HandlerResult
}

export const SNAPSHOT_VERSION = 2

export const RANDOM_STREAMS = ['storm', 'faults', 'latency'] as const

/** The state of a space without its log, with the field names of the file. */
export interface Snapshot {
  readonly version: typeof SNAPSHOT_VERSION
  readonly state: StoredState
  readonly settings: Settings
  readonly clock: { readonly now: EpochMs; readonly frozen: boolean }
  readonly storm: RunningStorm | null
  readonly faults: readonly Omit<ArmedFault, 'id'>[]
  /** Changed plans, by label. */
  readonly plans: readonly { readonly name: string; readonly plan: string }[]
  readonly accounts: readonly SnapshotAccount[]
  /** Omitted without any. */
  readonly logins?: Logins
  /** Omitted without any. */
  readonly idempotent?: readonly KeptResponse[]
  readonly dice: Readonly<Record<(typeof RANDOM_STREAMS)[number], number>>
}

export interface SnapshotAccount {
  readonly kind: 'key' | 'stranger'
  /** Label of a key, because snapshots do not contain secrets. */
  readonly name: string
  readonly usage: QuotaUsage
  readonly bans: BanRecord
  /** Omitted without any. */
  readonly early?: readonly EarlyRequest[]
}
