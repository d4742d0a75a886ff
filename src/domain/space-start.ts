import type { FaultRule } from './faults.js'
import type { Limits } from './quota.js'
import type { Settings } from './settings.js'
import type { Storm } from './storm.js'
import type { DurationMs, EpochMs } from './time.js'

/** How a space starts; `reset` returns it here. */
export interface SpaceStart {
  readonly settings: Settings
  readonly storm?: Storm
  readonly faults: readonly FaultRule[]
  /** Where the clock starts; undefined is real time. */
  readonly now?: EpochMs
  readonly freeze: boolean
  /** Requests already used, by key. */
  readonly used: Readonly<Record<string, Partial<Limits>>>
  /** Bans in force from the start, by key. */
  readonly bans: Readonly<Record<string, DurationMs>>
}
