import type { Conduct } from '../conduct/conduct-view.js'
import type { NewPet, Pet, PetStatus } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import type { Open, OperationName } from '../contract/open.js'
import type { FaultRule, FaultText } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import type { Reason } from '../domain/reasons.js'
import type { OptionalSetting } from '../domain/settings.js'
import type { DurationText } from '../domain/time.js'
import type { Drift } from '../drift/ledger.js'
import type { Exchange } from '../exchanges/exchange-view.js'
import type { Har } from '../exchanges/har.js'
import type { ScenarioContent, ScenarioName, SettingsInput, StormOption } from '../options/options.js'
import type { SettingsView } from '../options/settings-view.js'
import type {
  ClockView,
  DeviationView,
  FaultView,
  KeyView,
  ReplicaView,
  ScenarioView,
  SpaceView,
  StateView,
  StormView,
  SwitchesView,
} from './views.js'

/** Settings that can be changed while a space runs; null removes limits or latency. */
export type SettingsPatch = {
  readonly [Name in keyof SettingsInput]: SettingsInput[Name] | (Name extends OptionalSetting ? null : never)
}

/** Which exchanges to return. */
export interface RequestFilter {
  /** Its id. */
  readonly operation?: OperationName
  /** The status that was answered. */
  readonly status?: number
  /** Label of the key, without its space. */
  readonly key?: string
  /** Why the sandbox made the answer up. */
  readonly reason?: Open<Reason>
}

/** What of a request is to be different when it is sent again. */
export interface ReplayChange {
  /** The key that is sent; it has to be given where the log does not have it. */
  readonly key?: string
  readonly method?: string
  /** Path and query. */
  readonly target?: string
  /** Others than it had; null takes one away. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string
  /** After how long it is given up, `30s` by itself. */
  readonly timeout?: DurationText
}

interface KeyInput {
  readonly key: string
}

interface SnapshotInput {
  readonly name: string
}

/** An interface as a map, which a record of anything takes. */
type Fields<T> = { readonly [Field in keyof T]: T[Field] }

/** A verb without input. */
type Nothing = { readonly [name in never]: never }

/**
 * What each verb takes and gives, by its name. Types only, so that pages and
 * programs can have it without the sandbox; the table of verbs is checked against it.
 */
interface VerbMap {
  state: { input: Nothing; output: StateView }
  reset: { input: Nothing; output: { readonly space: string; readonly pets: number } }
  switches: { input: Nothing; output: SwitchesView }
  undo: { input: Nothing; output: { readonly undone: string } }
  'deviations.list': { input: Nothing; output: readonly DeviationView[] }
  'deviations.clear': {
    input: Partial<Pick<DeviationView, 'what'>> & { readonly name?: string }
    output: { readonly straightened: number }
  }
  'settings.show': { input: Nothing; output: SettingsView }
  'settings.change': { input: SettingsPatch; output: SettingsView }
  replicas: { input: { readonly digest?: boolean }; output: readonly ReplicaView[] }
  'clock.show': { input: Nothing; output: ClockView }
  'clock.set': { input: { readonly now?: string | Date; readonly frozen?: boolean }; output: ClockView }
  'clock.advance': { input: { readonly by: DurationText }; output: ClockView }
  'clock.reset': { input: Nothing; output: ClockView }
  'keys.list': { input: Nothing; output: readonly KeyView[] }
  'keys.add': { input: KeyInput & { readonly plan?: PlanName }; output: KeyView }
  'keys.change': { input: KeyInput & { readonly plan: PlanName }; output: KeyView }
  'keys.remove': { input: KeyInput; output: { readonly removed: string } }
  'keys.ban': { input: KeyInput & { readonly for?: DurationText }; output: KeyView }
  'keys.unban': { input: KeyInput; output: KeyView }
  'storm.show': { input: Nothing; output: StormView | null }
  'storm.start': { input: StormOption; output: StormView }
  'storm.stop': { input: Nothing; output: null }
  'faults.list': { input: Nothing; output: readonly FaultView[] }
  'faults.set': { input: { readonly rules: readonly (FaultText | FaultRule)[] }; output: readonly FaultView[] }
  'faults.add': { input: { readonly rule: FaultText | FaultRule }; output: readonly FaultView[] }
  'faults.clear': { input: Nothing; output: readonly FaultView[] }
  'scenario.list': { input: Nothing; output: readonly ScenarioView[] }
  'scenario.apply': {
    input: { readonly scenario: { readonly name: ScenarioName } | Fields<ScenarioContent> }
    output: StateView
  }
  'pets.list': { input: { readonly limit?: number }; output: readonly Pet[] }
  'pets.add': { input: NewPet; output: Pet }
  'pets.set': {
    input: { readonly id: Int64 } & Partial<Omit<NewPet, 'status'>> & { readonly status?: PetStatus | null }
    output: Pet
  }
  'pets.remove': { input: { readonly id: Int64 }; output: { readonly removed: Int64 } }
  'orders.list': { input: Nothing; output: readonly unknown[] }
  'snapshots.list': { input: Nothing; output: readonly SnapshotInput[] }
  'snapshots.save': { input: SnapshotInput; output: SnapshotInput }
  'snapshots.restore': { input: SnapshotInput; output: SnapshotInput }
  'snapshots.remove': { input: SnapshotInput; output: { readonly removed: string } }
  'requests.list': {
    input: RequestFilter & { readonly since?: number | string; readonly limit?: number }
    output: readonly Exchange[]
  }
  'requests.har': { input: VerbMap['requests.list']['input']; output: Har }
  'requests.replay': { input: { readonly id: number } & ReplayChange; output: Exchange }
  'requests.clear': { input: Nothing; output: readonly Exchange[] }
  conduct: { input: Nothing; output: Conduct }
  drift: { input: Nothing; output: Drift }
  'spaces.list': { input: Nothing; output: readonly SpaceView[] }
  'spaces.remove': { input: { readonly name: string }; output: { readonly removed: string } }
  shutdown: { input: Nothing; output: { readonly stopping: true } }
}

export type VerbName = keyof VerbMap
export type VerbInput<Name extends VerbName> = VerbMap[Name]['input']
export type VerbOutput<Name extends VerbName> = VerbMap[Name]['output']

/** A verb's input as an argument, left out where nothing needs to be said. */
export type OptionalInput<Name extends VerbName> =
  Nothing extends VerbInput<Name> ? [input?: VerbInput<Name>] : [input: VerbInput<Name>]

/** Does a verb to a space; the default one is empty. */
export type CallVerb = <Name extends VerbName>(
  verb: Name,
  space: string,
  ...input: OptionalInput<Name>
) => Promise<VerbOutput<Name>>
