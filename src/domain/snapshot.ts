import type { KeptBanRecord } from './ban.js'
import type { KeptFault } from './faults.js'
import type { PlanName } from './keys.js'
import type { QuotaUsage } from './quota.js'
import type { Settings } from './settings.js'
import type { SpaceState } from './state.js'
import type { RunningStorm } from './storm.js'
import type { EpochMs } from './time.js'

export const SNAPSHOT_VERSION = 1

/** The random streams of a space. */
export const RANDOM_STREAMS = ['storm', 'faults', 'latency'] as const

/**
 * Everything in a space that decides its next responses. The log only records the past, so it is left out.
 *
 * These names are those of the file: renaming one makes every snapshot on disk unreadable.
 */
export interface Snapshot {
  readonly version: typeof SNAPSHOT_VERSION
  readonly state: SpaceState
  readonly settings: Settings
  readonly clock: { readonly now: EpochMs; readonly frozen: boolean }
  readonly storm: RunningStorm | null
  readonly faults: readonly KeptFault[]
  /** The plans that keys were moved to, by label. Snapshots of earlier releases have none. */
  readonly plans?: readonly { readonly name: string; readonly plan: PlanName }[]
  readonly accounts: readonly SnapshotAccount[]
  /** The position of each random stream. */
  readonly dice: Readonly<Record<(typeof RANDOM_STREAMS)[number], number>>
}

export interface SnapshotAccount {
  readonly kind: 'key' | 'stranger'
  /** Of a key its label: a snapshot holds no key that was given at the start. */
  readonly name: string
  readonly usage: QuotaUsage
  readonly bans: KeptBanRecord
}
