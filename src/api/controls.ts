import type { Conduct } from '../conduct/conduct-view.js'
import type { NewPet, Pet } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import type {
  CallVerb,
  OptionalInput,
  ReplayChange,
  RequestFilter,
  SettingsPatch,
  VerbInput,
  VerbName,
  VerbOutput,
} from '../control/verb-map.js'
import type {
  ClockView,
  DeviationView,
  FaultView,
  KeyView,
  ReplicaView,
  SpaceView,
  StateView,
  StormView,
  SwitchesView,
} from '../control/views.js'
import type { FaultRule, FaultText } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import type { DurationText } from '../domain/time.js'
import type { Drift } from '../drift/ledger.js'
import type { Exchange } from '../exchanges/exchange-view.js'
import type { Har } from '../exchanges/har.js'
import type { SandboxOptions, ScenarioContent, ScenarioName, StormOption } from '../options/options.js'
import { quoted } from '../options/problem.js'
import type { SettingsView } from '../options/settings-view.js'

/** A way to a sandbox: in this process or over the network. */
export interface Transport {
  /** Rejects with a ControlError if the verb refuses. */
  readonly call: CallVerb
  /** Exchanges as they end, until the signal is aborted or the sandbox stops. */
  follow(space: string, filter: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
}

/** A verb refused to do its work; nothing was changed. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  /** `invalid_request`, `not_found`, `conflict`, `too_many_spaces`, `forbidden` … */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Picks a fixture key: the one on `--plan`, one on a fixed plan, or one that always fails in its own way. */
export type KeyKind = 'default' | PlanName | 'limited' | 'banned' | 'revoked'

/** The fixture keys, to be sent as `Authorization: Bearer <key>`. */
export type KeyNames = { readonly [Kind in KeyKind]: string }

/** What can be done to a space. Durations are strings (`30s`), instants ISO 8601. Every verb rejects with a ControlError if it refuses. */
export interface Controls {
  state(): Promise<StateView>
  /** Back to the start; snapshots stay. */
  reset(): Promise<void>
  /** Takes back the last reset, restored snapshot, scenario, cleared log, removed pet or space, for a minute after it. @returns the verb */
  undo(): Promise<VerbOutput<'undo'>>
  readonly deviations: {
    /** What is not as the space began: storm, faults, clock, settings, bans and plans of keys. */
    (): Promise<readonly DeviationView[]>
    /** Straightens all of them, or one; no pet, quota or exchange is lost. */
    clear(only?: VerbInput<'deviations.clear'>): Promise<VerbOutput<'deviations.clear'>>
  }
  /** The present switches as a scenario file, as flags of `serve` and as test code. */
  switches(): Promise<SwitchesView>
  readonly clock: {
    show(): Promise<ClockView>
    set(change: VerbInput<'clock.set'>): Promise<ClockView>
    /** Moves it forward by a duration: `30s`, `1m`, `24h`. */
    advance(by: DurationText): Promise<ClockView>
    freeze(): Promise<ClockView>
    resume(): Promise<ClockView>
    /** Returns to real time. */
    reset(): Promise<ClockView>
  }
  readonly settings: {
    show(): Promise<SettingsView>
    change(settings: SettingsPatch): Promise<SettingsView>
  }
  readonly keys: KeyNames & {
    list(): Promise<readonly KeyView[]>
    add(key: string, plan?: PlanName): Promise<KeyView>
    remove(key: string): Promise<void>
  }
  /** Puts a key on a plan. */
  plan(key: string, plan: PlanName): Promise<KeyView>
  /** Bans a key, for the ban duration of the settings unless another is given. */
  ban(key: string, options?: { readonly for?: DurationText }): Promise<KeyView>
  unban(key: string): Promise<KeyView>
  readonly storm: {
    show(): Promise<StormView | null>
    /** Without a rate, everything is refused. */
    start(storm?: StormOption): Promise<StormView>
    stop(): Promise<void>
  }
  readonly faults: {
    list(): Promise<readonly FaultView[]>
    set(rules: readonly (FaultText | FaultRule)[]): Promise<readonly FaultView[]>
    add(rule: FaultText | FaultRule): Promise<readonly FaultView[]>
    clear(): Promise<void>
  }
  sunset(mode: NonNullable<SandboxOptions['sunset']>): Promise<SettingsView>
  /** A packaged scenario's name, or the content of one. */
  scenario(scenario: ScenarioName | ScenarioContent): Promise<StateView>
  readonly pets: {
    /** All of them, or the first `limit`; newest first. */
    list(filter?: VerbInput<'pets.list'>): Promise<readonly Pet[]>
    add(pet: NewPet): Promise<Pet>
    /** Changes fields; null removes the status. */
    set(id: Int64, change: Omit<VerbInput<'pets.set'>, 'id'>): Promise<Pet>
    remove(id: Int64): Promise<void>
  }
  /** The orders, as listOrders gives them. */
  orders(): Promise<readonly unknown[]>
  readonly snapshots: {
    list(): Promise<readonly string[]>
    save(name: string): Promise<void>
    restore(name: string): Promise<void>
    remove(name: string): Promise<void>
  }
  readonly requests: {
    /** Exchanges, oldest first; one that is under way has not `ended`. `since` is an exchange's id or an instant; `limit` keeps only the newest. */
    (filter?: VerbInput<'requests.list'>): Promise<readonly Exchange[]>
    /** Exchanges as they end. Over the network, a reader that falls more than 500 behind misses the oldest. */
    follow(filter?: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
    /** The same exchanges as an HTTP archive (HAR 1.2), without keys. */
    har(filter?: VerbInput<'requests.har'>): Promise<Har>
    /** Sends the request of an exchange again, as it was or changed. @returns the new exchange, once it has ended */
    replay(id: number, change?: ReplayChange): Promise<Exchange>
    clear(): Promise<void>
  }
  /** How well clients have kept the service's rules since the start or the last reset. */
  conduct(): Promise<Conduct>
  /** How what the real service behind the sandbox answers drifts from the contract. */
  drift(): Promise<Drift>
}

/** What can be done to a whole sandbox: to its default space, and to the spaces in it. */
export interface SandboxControls extends Controls {
  readonly spaces: {
    list(): Promise<readonly SpaceView[]>
    remove(name: string): Promise<void>
  }
  /**
   * The replicas of the sandbox that are there, the oldest first; empty where it is not one of several.
   *
   * @param ask.digest the one that is asked also says what it holds, as a digest: it stops for as long as it takes to write it all
   */
  replicas(ask?: { readonly digest?: boolean }): Promise<readonly ReplicaView[]>
  /** An isolated space, opened by its first use. */
  space(name: string): Space
  /** Stops the sandbox, as SIGTERM does; resolves once it has got the message. */
  shutdown(): Promise<void>
}

/** An isolated copy of everything, for one test: the same controls, its own state. */
export interface Space extends Controls {
  readonly name: string
  /** A fixture key in this space. */
  key(kind?: KeyKind): string
  /** Removes the space and everything in it. */
  remove(): Promise<void>
}

/** A fixture key, in a space if one is named. */
export function keyOf(kind: KeyKind, space = ''): string {
  const key = kind === 'default' ? 'sandbox' : `sandbox-${kind}`
  return space === '' ? key : `${key}~${space}`
}

type KeyVerb = 'keys.remove' | 'keys.change' | 'keys.ban' | 'keys.unban'

/** The controls of one space, over any transport. */
function controlsOf(transport: Transport, space: string): Controls {
  const { follow } = transport
  const callIn = async <Name extends VerbName>(verb: Name, at: string, ...input: OptionalInput<Name>) => {
    if (!isMap(input[0] ?? {}))
      throw new ControlError('invalid_request', `The input ${quoted(input[0])}: must be a map.`)
    return transport.call(verb, at, ...input)
  }
  const call = <Name extends VerbName>(verb: Name, ...input: OptionalInput<Name>) => callIn(verb, space, ...input)
  const done = async <Name extends VerbName>(verb: Name, ...input: OptionalInput<Name>) =>
    void (await callIn(verb, space, ...input))
  // A key as clients send it may name its space, which is then the one that is meant.
  const ofKey = async <Name extends KeyVerb>(verb: Name, sent: string, rest?: Omit<VerbInput<Name>, 'key'>) => {
    if (typeof sent !== 'string')
      throw new ControlError('invalid_request', `The key ${quoted(sent)}: must be a string.`)
    const at = splitKey(sent)
    if (at.space !== '' && space !== '' && at.space !== space) {
      const message = `The key "${sent}" is in the space "${at.space}", not in "${space}". Use the controls of that space.`
      throw new ControlError('invalid_request', message)
    }
    const input = joined(rest, { key: at.key }) as OptionalInput<Name>[0]
    return callIn(verb, at.space === '' ? space : at.space, ...([input] as OptionalInput<Name>))
  }
  const names = Object.fromEntries(KEY_KINDS.map((kind) => [kind, keyOf(kind, space)])) as KeyNames
  const requests = Object.assign((filter: VerbInput<'requests.list'> = {}) => call('requests.list', filter), {
    follow: (filter: RequestFilter = {}, signal?: AbortSignal) => follow(space, filter, signal),
    har: (filter: VerbInput<'requests.har'> = {}) => call('requests.har', filter),
    replay: (id: number, change: ReplayChange = {}) => call('requests.replay', joined(change, { id })),
    clear: () => done('requests.clear'),
  })
  const deviations = Object.assign(() => call('deviations.list'), {
    clear: (only: VerbInput<'deviations.clear'> = {}) => call('deviations.clear', only),
  })
  return {
    state: () => call('state'),
    reset: () => done('reset'),
    undo: () => call('undo'),
    deviations,
    switches: () => call('switches'),
    clock: {
      show: () => call('clock.show'),
      set: (change) =>
        call('clock.set', change?.now instanceof Date ? { ...change, now: change.now.toISOString() } : change),
      advance: (by) => call('clock.advance', { by }),
      freeze: () => call('clock.set', { frozen: true }),
      resume: () => call('clock.set', { frozen: false }),
      reset: () => call('clock.reset'),
    },
    settings: {
      show: () => call('settings.show'),
      change: (settings) => call('settings.change', settings),
    },
    keys: {
      ...names,
      list: () => call('keys.list'),
      add: (key, plan) => call('keys.add', { key, ...(plan === undefined ? {} : { plan }) }),
      remove: async (sent) => void (await ofKey('keys.remove', sent)),
    },
    plan: (sent, plan) => ofKey('keys.change', sent, { plan }),
    ban: (sent, options = {}) => ofKey('keys.ban', sent, options),
    unban: (sent) => ofKey('keys.unban', sent),
    storm: {
      show: () => call('storm.show'),
      start: (storm = {}) => call('storm.start', storm),
      stop: () => done('storm.stop'),
    },
    faults: {
      list: () => call('faults.list'),
      set: (rules) => call('faults.set', { rules }),
      add: (rule) => call('faults.add', { rule }),
      clear: () => done('faults.clear'),
    },
    sunset: (sunset) => call('settings.change', { sunset }),
    scenario: (scenario) =>
      call('scenario.apply', { scenario: typeof scenario === 'string' ? { name: scenario } : scenario }),
    pets: {
      list: (filter = {}) => call('pets.list', filter),
      add: (pet) => call('pets.add', pet),
      set: (id, change) => call('pets.set', joined(change, { id })),
      remove: (id) => done('pets.remove', { id }),
    },
    orders: () => call('orders.list'),
    snapshots: {
      list: async () => (await call('snapshots.list')).map(({ name }) => name),
      save: (name) => done('snapshots.save', { name }),
      restore: (name) => done('snapshots.restore', { name }),
      remove: (name) => done('snapshots.remove', { name }),
    },
    requests,
    conduct: () => call('conduct'),
    drift: () => call('drift'),
  }
}

/** What a caller gave, and fields of the method's own. What is no map stays as it is, to be refused. */
function joined<Given extends object | undefined, Fields extends object>(given: Given, fields: Fields): Given & Fields {
  return isMap(given ?? {}) ? { ...given, ...fields } : (given as Given & Fields)
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The controls of a whole sandbox, over any transport. */
export function sandboxControlsOf(transport: Transport): SandboxControls {
  const removeSpace = async (name: string) => void (await transport.call('spaces.remove', '', { name }))
  return {
    ...controlsOf(transport, ''),
    spaces: { list: () => transport.call('spaces.list', ''), remove: removeSpace },
    replicas: (ask) => transport.call('replicas', '', ask),
    space: (name) => ({
      ...controlsOf(transport, name),
      name,
      key: (kind = 'default') => keyOf(kind, name),
      remove: () => removeSpace(name),
    }),
    shutdown: async () => void (await transport.call('shutdown', '')),
  }
}

const KEY_KINDS: readonly KeyKind[] = [
  'default',
  'free',
  'pro',
  'business',
  'enterprise',
  'limited',
  'banned',
  'revoked',
]

/** A key as clients send it, taken apart: `sandbox-pro~checkout` is the key `sandbox-pro` in the space `checkout`. */
export function splitKey(sent: string): { readonly key: string; readonly space: string } {
  const mark = sent.indexOf('~')
  return mark === -1 ? { key: sent, space: '' } : { key: sent.slice(0, mark), space: sent.slice(mark + 1) }
}
