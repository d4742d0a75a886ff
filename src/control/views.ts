import type { KeyHeader } from '../contract/contract-data.js'
import type { ProcessView } from '../core/space-context.js'
import type { FaultRule } from '../domain/faults.js'
import type { Upstream } from '../domain/upstream.js'
import type { ScenarioContent, SettingsView } from '../options/options.js'

export interface ReplicaView {
  readonly name: string
  /** `host:port`; empty if it does not listen. */
  readonly address: string
  readonly version: string
  /** Number of applied commands: the current number for the requested replica, of the last heartbeat for others. */
  readonly position: number
  readonly lagMs: number
  /** ISO 8601, UTC. */
  readonly since: string
  /** Whether this replica served the request. */
  readonly isThis: boolean
  /** SHA-256 of the whole state in base64: only for this replica, on request. Equal on replicas at the same position. */
  readonly digest?: string
}

export interface ClockView {
  /** ISO 8601, UTC. */
  readonly now: string
  readonly frozen: boolean
}

/** Durations are text; null if not set. */
export interface StormView {
  /** Share of requests refused, 0 to 1. */
  readonly rate: number
  readonly for: string | null
  readonly every: string | null
  readonly retryAfter: string | null
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

export interface FaultView extends FaultRule {
  /** Tells rules apart whose text is the same. */
  readonly id: string
  /** Null if unlimited. */
  readonly left: number | null
}

export interface WindowState {
  readonly limit: number
  readonly remaining: number
  /** ISO 8601, UTC; null while no request has opened the window. */
  readonly reset: string | null
}

export interface KeyView {
  /** The label, or else the key. */
  readonly key: string
  /** Clients send another text than `key`, which is never shown. */
  readonly secret: boolean
  /** Null if the contract has no plans. */
  readonly plan: string | null
  /** Fixed condition of the key. */
  readonly always: 'limited' | 'banned' | 'revoked' | null
  /** Null without a limit. */
  readonly minute: WindowState | null
  readonly day: WindowState | null
  readonly ban: { readonly until: string } | null
}

/** Other than the default space. */
export interface SpaceView {
  readonly name: string
  /** How many records each resource has. */
  readonly records: Readonly<Record<string, number>>
  readonly requests: number
}

export interface ResourceView {
  readonly name: string
  /** Path template of its collection: `/projects/{projectId}/tasks`. */
  readonly path: string
  /** The property that identifies a record. */
  readonly id: string
  /** Fields with the ids of a record's parents, outermost first. */
  readonly parents: readonly string[]
  /** The property that holds the record in the body that creates one; empty for none. */
  readonly envelope: string
  readonly records: number
}

export interface ScenarioView {
  readonly name: string
  readonly description: string
}

export const OVERRIDE_KINDS = ['storm', 'faults', 'clock', 'setting', 'ban', 'plan'] as const

export interface OverrideView {
  readonly what: (typeof OVERRIDE_KINDS)[number]
  /** Name of the setting or the key; null for other kinds. */
  readonly name: string | null
  /** `storm 30 %`, `2 faults`, `latency 800ms`, `clock +1h`, `sandbox-free banned`. */
  readonly text: string
  /** End by the space's clock: ISO 8601, UTC; null if it does not end. */
  readonly until: string | null
}

/** A switch that makes responses differ from the documented service, or a start option that is switched off. */
export interface ActiveView {
  readonly what: 'storm' | 'fault' | 'clock' | 'setting' | 'ban' | 'plan' | 'option'
  /** The rule, or the name of the setting or the key; null for other kinds. */
  readonly name: string | null
  /** Of a rule; null for other kinds. */
  readonly id: string | null
  /** `storm 30 %`, `createUser:503*2`, `latency 800ms`, `clock +1h`, `sandbox-free banned`. */
  readonly text: string
  /** End by the space's clock: ISO 8601, UTC; null if it does not end. */
  readonly until: string | null
  /** Remaining uses of a rule; null if unlimited. */
  readonly left: number | null
  /** Exchanges of the log that it affected; null if they cannot be counted. */
  readonly hits: number | null
  /** `--latency`, `scenario banned`, `early requests`, `you`, `handlers`. */
  readonly origin: string
  /** A start option that is switched off. */
  readonly isOff: boolean
}

export interface OverridesExport {
  /** Scenario content, for `scenario`. */
  readonly content: ScenarioContent
  /** A scenario file (YAML). */
  readonly scenario: string
  /** Flags of `serve`, quoted for sh; bans have none. */
  readonly flags: string
  /** A Vitest test. */
  readonly test: string
  /** Overrides that cannot be exported. */
  readonly notExportable: readonly string[]
}

export interface UndoView {
  readonly id: number
  readonly verb: string
  /** End of the undo period in real time: ISO 8601, UTC. */
  readonly until: string
}

export interface OperationsView {
  /** Read or change records. */
  readonly stateful: readonly string[]
  /** Answered from the contract's examples and schemas. */
  readonly mocked: readonly { readonly operation: string; readonly reason: string }[]
}

export interface ExplanationView {
  readonly resources: readonly {
    readonly name: string
    readonly path: string
    /** The schema of a record, and the place of it in the contract. */
    readonly record: string
    readonly id: { readonly property: string; readonly because: string }
    /** The properties around a record in a response, outermost first; empty for none. */
    readonly envelope: string
    /** The operation that lists the records; null without one. */
    readonly list: string | null
    /** Path parameters of the collection; their resource is null if any value will do. */
    readonly parents: readonly { readonly parameter: string; readonly resource: string | null }[]
  }[]
  readonly operations: readonly {
    readonly operation: string
    readonly method: string
    readonly path: string
    readonly stateful: boolean
    /** What it does to which resource, or why it is mocked. */
    readonly because: string
    /** Without a valid key, it responds with a 401. */
    readonly needsKey: boolean
  }[]
}

export interface StateView {
  /** Empty for the default space. */
  readonly space: string
  /** Path of the service on this server: `/v1`. */
  readonly basePath: string
  /** Header that holds the API key: `prefix`, then the key. */
  readonly keyHeader: KeyHeader
  /** Of the contract, smallest first; empty without quotas. */
  readonly plans: readonly string[]
  readonly settings: SettingsView
  readonly clock: ClockView
  readonly keys: readonly KeyView[]
  readonly storm: StormView | null
  readonly faults: readonly FaultView[]
  /** Changes from the start configuration. */
  readonly overrides: readonly OverrideView[]
  readonly active: readonly ActiveView[]
  /** The last verb that can be undone, or null. */
  readonly undo: UndoView | null
  /** The real service; null without `upstream`. */
  readonly upstream: Pick<Upstream, 'baseUrl' | 'writes'> | null
  readonly process: ProcessView
  readonly operations: OperationsView
  /** Only if it is asked for. */
  readonly explanation?: ExplanationView
  readonly counts: {
    /** Records of each resource. */
    readonly records: Readonly<Record<string, number>>
    readonly requests: number
    /** Requests that the log still has. */
    readonly logged: number
    /** Requests in progress. */
    readonly open: number
    readonly spaces: number
  }
}
