import type { FaultRule } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import type { UpstreamState } from '../drift/ledger.js'
import type { ScenarioContent, SettingsView } from '../options/options.js'

export type { ReplicaView } from '../replication/group.js'

/** The clock of a space. */
export interface ClockView {
  /** ISO 8601, UTC. */
  readonly now: string
  readonly frozen: boolean
}

/** A storm; durations are strings, null if not set. */
export interface StormView {
  /** Share of requests refused, 0 to 1. */
  readonly rate: number
  readonly for: string | null
  readonly every: string | null
  readonly retryAfter: string | null
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

/** A fault rule and its remaining uses. */
export interface FaultView extends FaultRule {
  /** Null if unlimited. */
  readonly left: number | null
}

/** One of a key's two quota windows. */
export interface WindowState {
  readonly limit: number
  readonly remaining: number
  /** ISO 8601, UTC; null while no request has opened the window. */
  readonly reset: string | null
}

/** A key with its remaining quotas and its ban. */
export interface KeyView {
  /** Its label, or the key if it has none. */
  readonly key: string
  /** The key that clients send is not its label, and is never shown. */
  readonly secret: boolean
  readonly plan: PlanName
  /** The condition it is always in. */
  readonly always: 'limited' | 'banned' | 'revoked' | null
  readonly minute: WindowState
  readonly day: WindowState
  readonly ban: { readonly until: string } | null
}

/** An open space other than the default one. */
export interface SpaceView {
  readonly name: string
  readonly pets: number
  readonly requests: number
}

/** A resource of the contract. */
export interface ResourceView {
  readonly name: string
  /** Path template of its collection: `/owners/{ownerId}/pets`. */
  readonly path: string
  /** The property that identifies a record. */
  readonly id: string
  /** Path parameters that name the parents of a record, outermost first. */
  readonly parents: readonly string[]
  /** Number of records. */
  readonly records: number
}

/** A packaged scenario. */
export interface ScenarioView {
  readonly name: string
  /** Description in one line. */
  readonly description: string
}

export const OVERRIDE_KINDS = ['storm', 'faults', 'clock', 'setting', 'ban', 'plan'] as const

/** A change from the start configuration of a space. */
export interface OverrideView {
  readonly what: (typeof OVERRIDE_KINDS)[number]
  /** Name of the setting or the key; null for other kinds. */
  readonly name: string | null
  /** `storm 30 %`, `2 faults`, `latency 800ms`, `clock +1 h`, `sandbox-free banned`. */
  readonly text: string
  /** When it ends, by the space's clock: ISO 8601, UTC; null if it does not. */
  readonly until: string | null
}

/** The current settings, to start another sandbox with. */
export interface OverridesExport {
  /** The content of a scenario, as programs pass it. */
  readonly content: ScenarioContent
  /** A scenario file, in YAML. */
  readonly scenario: string
  /** Flags of `serve`, quoted for sh; bans have none. */
  readonly flags: string
  /** A Vitest test that starts with them. */
  readonly test: string
  /** Settings that none of these forms can express. */
  readonly notExportable: readonly string[]
}

/** The real service behind the sandbox, and its state at this space's last request to it. */
export interface UpstreamView extends UpstreamState {
  readonly baseUrl: string
}

/** A verb that can be undone. */
export interface UndoView {
  readonly id: number
  readonly verb: string
  /** End of the undo period in real time: ISO 8601, UTC. */
  readonly until: string
}

/** The operations of the contract, by their ids. */
export interface OperationsView {
  /** Read or change records. */
  readonly stateful: readonly string[]
  /** Answered from the contract's examples and schemas. */
  readonly mocked: readonly { readonly operation: string; readonly reason: string }[]
}

/** The whole visible state of a space. */
export interface StateView {
  /** Empty for the default space. */
  readonly space: string
  /** Path of the service on this server: `/v1`. */
  readonly basePath: string
  readonly settings: SettingsView
  readonly clock: ClockView
  readonly keys: readonly KeyView[]
  readonly storm: StormView | null
  readonly faults: readonly FaultView[]
  /** Changes from the start configuration. */
  readonly overrides: readonly OverrideView[]
  /** The last verb that can be undone in this space; null if there is none. */
  readonly undo: UndoView | null
  /** Null without `upstream`. */
  readonly upstream: UpstreamView | null
  readonly operations: OperationsView
  readonly counts: {
    readonly pets: number
    readonly orders: number
    readonly requests: number
    readonly spaces: number
  }
}
