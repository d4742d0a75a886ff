import type { FaultRule } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import type { UpstreamState } from '../drift/ledger.js'
import type { ScenarioContent } from '../options/options.js'
import type { SettingsView } from '../options/settings-view.js'

export type { ReplicaView } from '../replication/group.js'

/** A clock as the control plane shows it. */
export interface ClockView {
  /** ISO 8601, UTC. */
  readonly now: string
  readonly frozen: boolean
}

/** A storm as the control plane shows it; durations as strings, null where none is set. */
export interface StormView {
  /** Share of requests refused, 0 to 1. */
  readonly rate: number
  readonly for: string | null
  readonly every: string | null
  readonly retryAfter: string | null
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

/** A fault rule as the control plane shows it. */
export interface FaultView extends FaultRule {
  /** How often it will still happen; null if unlimited. */
  readonly left: number | null
}

/** One of a key's two quota windows. */
export interface WindowState {
  readonly limit: number
  readonly remaining: number
  /** ISO 8601, UTC; null while no request has opened the window. */
  readonly reset: string | null
}

/** A key with the rest of its quotas, and its ban. */
export interface KeyView {
  /** Its label; without one of its own, the key. */
  readonly key: string
  /** The label is not what clients send: that is shown nowhere. */
  readonly secret: boolean
  readonly plan: PlanName
  /** The condition it is always in. */
  readonly always: 'limited' | 'banned' | 'revoked' | null
  readonly minute: WindowState
  readonly day: WindowState
  readonly ban: { readonly until: string } | null
}

/** An open space beside the default one. */
export interface SpaceView {
  readonly name: string
  readonly pets: number
  readonly requests: number
}

/** A packaged scenario. */
export interface ScenarioView {
  readonly name: string
  /** What it does, in one line. */
  readonly description: string
}

/** What can deviate from how a space began. */
export const DEVIATION_KINDS = ['storm', 'faults', 'clock', 'setting', 'ban', 'plan'] as const

/** Something that is not as the space began. */
export interface DeviationView {
  readonly what: (typeof DEVIATION_KINDS)[number]
  /** Of the setting or the key; null for what there is only one of. */
  readonly name: string | null
  /** In a few words: `storm 30 %`, `2 faults`, `latency 800ms`, `clock +1 h`, `sandbox-free banned`. */
  readonly text: string
  /** When it is over by itself, by the space's clock: ISO 8601, UTC; null if it is not. */
  readonly until: string | null
}

/** The present switches, to be taken along. */
export interface SwitchesView {
  /** As the control plane and programs take a scenario. */
  readonly content: ScenarioContent
  /** As a scenario file, in YAML. */
  readonly scenario: string
  /** As flags of `serve`, quoted for sh; bans have none. */
  readonly flags: string
  /** As a Vitest test that begins with them. */
  readonly test: string
  /** What none of these can say. */
  readonly untold: readonly string[]
}

/** The real service behind the sandbox, and how it was when this space asked it last. */
export interface UpstreamView extends UpstreamState {
  readonly baseUrl: string
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
  /** What is not as the space began. */
  readonly deviations: readonly DeviationView[]
  /** Null where nothing is forwarded. */
  readonly upstream: UpstreamView | null
  readonly counts: {
    readonly pets: number
    readonly orders: number
    readonly requests: number
    readonly spaces: number
  }
}
