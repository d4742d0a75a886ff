/// <reference lib="esnext.disposable" preserve="true" />

import type { Conduct } from '../conduct/conduct-view.js'
import type { NewPet, Pet, PetStatus } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import { ControlError } from '../control/control-error.js'
import type { OptionalInput, VerbInput, VerbName, VerbOutput } from '../control/verb-map.js'
import type {
  ClockView,
  FaultView,
  KeyView,
  OverridesExport,
  OverrideView,
  ReplicaView,
  ResourceView,
  SpaceView,
  StateView,
  StormView,
} from '../control/views.js'
import type { FaultInput } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import { DEFAULT_SPACE, isSpaceName, sentKeyText } from '../domain/keys.js'
import { joinOr } from '../domain/numbers.js'
import type { DurationText } from '../domain/time.js'
import type { Exchange } from '../exchanges/exchange-record.js'
import type { Har } from '../exchanges/har.js'
import type {
  SandboxOptions,
  ScenarioContent,
  ScenarioName,
  SettingsPatch,
  SettingsView,
  StormOption,
} from '../options/options.js'
import { quoted } from '../options/problem.js'
import type { FakeTimers, RequestFilter, WaitOptions } from './inputs.js'

export interface Transport {
  /** @param space empty for the default space @throws ControlError if the verb refuses */
  call(verb: string, space: string, input?: object): Promise<unknown>
  /** Exchanges as they end, until the signal is aborted or the sandbox stops. */
  follow(space: string, filter: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
}

/** Which exchanges to return from the log. */
interface RequestSelection extends RequestFilter {
  /** Only exchanges after this ID, or from this instant on (ISO 8601). */
  readonly since?: number | string
  /** Only exchanges before this ID. */
  readonly before?: number
  /** Only the newest N. */
  readonly limit?: number
  /** Words that must all match, as on the dashboard: `4xx -key:sandbox-pro`. */
  readonly filter?: string
}

/** Changes to a request that is sent again. */
export interface ReplayChange {
  /** API key to send; required if the log does not have it. */
  readonly key?: string
  readonly method?: string
  /** Path and query. */
  readonly target?: string
  /** Headers to add or replace; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string
  /** Time limit. Default: `30s`. */
  readonly timeout?: DurationText
}

/** Picks a fixture key: the one on `--plan`, one on a fixed plan, or one that always fails in its own way. */
export type KeyKind = 'default' | PlanName | 'limited' | 'banned' | 'revoked'

/** The fixture keys, to be sent as `Authorization: Bearer <key>`. */
export type KeyNames = { readonly [Kind in KeyKind]: string }

/** Controls of a space. Durations are strings (`30s`), instants ISO 8601. Every method rejects with a ControlError if it refuses. */
export interface Controls {
  state(): Promise<StateView>
  /** Returns the space to its start; snapshots stay. */
  reset(): Promise<void>
  /**
   * Undoes the last reset, restored snapshot, scenario, cleared log, removed pet, key or space, for a minute after it.
   *
   * @param which.id refuses if another undo is the last one
   * @returns the verb that was undone, and the number of requests since whose effects are undone with it
   */
  undo(which?: { readonly id?: number }): Promise<{ readonly undone: string; readonly requests: number }>
  readonly overrides: {
    /** Changes from the start configuration: storm, faults, clock, settings, bans and plans of keys. */
    (): Promise<readonly OverrideView[]>
    /** Resets all overrides, or some; pets, quotas and the log stay. */
    clear(only?: {
      readonly what?: OverrideView['what']
      readonly name?: string
    }): Promise<{ readonly cleared: number }>
  }
  /** The current settings as a scenario file, as flags of `serve` and as test code. */
  export(): Promise<OverridesExport>
  readonly clock: {
    show(): Promise<ClockView>
    set(change: { readonly now?: string | Date; readonly frozen?: boolean }): Promise<ClockView>
    /**
     * Moves it forward by a duration: `30s`, `1m`, `24h`.
     *
     * @param options.timers fake timers to advance with it, step by step, so that clients wait by the same clock
     */
    advance(by: DurationText, options?: { readonly timers?: FakeTimers }): Promise<ClockView>
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
  /** Bans a key. Default duration: the ban duration of the settings. */
  ban(key: string, options?: { readonly for?: DurationText }): Promise<KeyView>
  /** @returns null if the key does not exist */
  unban(key: string): Promise<KeyView | null>
  readonly storm: {
    show(): Promise<StormView | null>
    /** Without a rate, all requests are refused. */
    start(storm?: StormOption): Promise<StormView>
    stop(): Promise<void>
  }
  readonly faults: {
    list(): Promise<readonly FaultView[]>
    set(rules: readonly FaultInput[]): Promise<readonly FaultView[]>
    add(rule: FaultInput): Promise<readonly FaultView[]>
    clear(): Promise<void>
  }
  sunset(mode: NonNullable<SandboxOptions['sunset']>): Promise<SettingsView>
  /** Applies a packaged scenario by its name, or the content of one. */
  scenario(scenario: ScenarioName | ScenarioContent): Promise<StateView>
  readonly pets: {
    /** All pets, or the first `limit`; newest first. */
    list(filter?: { readonly limit?: number }): Promise<readonly Pet[]>
    add(pet: NewPet): Promise<Pet>
    /** Changes fields; null removes the status. */
    set(
      id: Int64,
      change: { readonly name?: string; readonly categoryId?: Int64; readonly status?: PetStatus | null },
    ): Promise<Pet>
    remove(id: Int64): Promise<void>
  }
  /** The resources of the contract. */
  resources(): Promise<readonly ResourceView[]>
  /** The records of a resource of the contract, such as `categories` or `pets`. */
  resource<Item extends object = Record<string, unknown>>(name: string): ResourceControls<Item>
  /** The orders, as listOrders returns them. */
  orders(): Promise<readonly unknown[]>
  readonly snapshots: {
    list(): Promise<readonly string[]>
    save(name: string): Promise<void>
    restore(name: string): Promise<void>
    remove(name: string): Promise<void>
  }
  readonly requests: {
    /** Exchanges, oldest first; one in progress has not `ended`. */
    (filter?: RequestSelection): Promise<readonly Exchange[]>
    /** Exchanges as they end. Over the network, a reader that falls more than 500 behind misses the oldest. */
    follow(filter?: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
    /** The same exchanges as an HTTP archive (HAR 1.2), without keys. */
    har(filter?: RequestSelection): Promise<Har>
    /** Sends the request of an exchange again, as it was or changed. @returns the new exchange, once it has ended */
    replay(id: number, change?: ReplayChange): Promise<Exchange>
    clear(): Promise<void>
  }
  /**
   * Waits for a request in the log that matches, and returns the first. Without a status it may still be in progress.
   *
   * @throws ControlError `timeout`, with the requests that were received
   */
  waitForRequest(filter?: RequestFilter, options?: WaitOptions): Promise<Exchange>
  /** How well clients have kept the service's rules since the start or the last reset. */
  conduct(): Promise<Conduct>
}

/** Records of one resource. Nested ones have the ids of their parents as fields, by their path parameters. */
export interface ResourceControls<Item extends object = Record<string, unknown>> {
  /** All records, or the first `limit`; newest first. */
  list(filter?: { readonly limit?: number }): Promise<readonly Item[]>
  /** Adds a record, with read-only fields if given. Missing fields are filled in. */
  add(record: object): Promise<Item>
  /** Changes fields; null removes one. */
  set(id: Int64 | string, change: object): Promise<Item>
  /** Removes a record and its nested records. */
  remove(id: Int64 | string): Promise<void>
}

/** Controls of a whole sandbox: its default space, and its other spaces. */
export interface SandboxControls extends Controls {
  readonly spaces: {
    list(): Promise<readonly SpaceView[]>
    remove(name: string): Promise<{ readonly removed: string | null }>
  }
  /**
   * The present replicas of the sandbox, oldest first; empty unless it is a replica.
   *
   * @param options.digest also returns a digest of the state of the replica that responds; it pauses to compute it
   */
  replicas(options?: { readonly digest?: boolean }): Promise<readonly ReplicaView[]>
  /** An isolated space, opened by its first use. */
  space(name: string): Space
  /** Stops the sandbox, as SIGTERM does; resolves when the sandbox has received the call. */
  shutdown(): Promise<void>
}

/** Names one of the clients that share a key. */
export interface KeySender {
  readonly sender?: string
}

/** An isolated copy of everything, for one test: the same controls, its own state. */
export interface Space extends Controls {
  readonly name: string
  /**
   * A fixture key in this space.
   *
   * @param as.sender name of the client that sends it: same key, quota and ban, but its own conduct
   */
  key(kind?: KeyKind, as?: KeySender): string
  /** Makes it a copy of another space (default: the default space), with quotas, bans and clock; its log stays. */
  copyFrom(name?: string): Promise<void>
  /** Removes the space and everything in it. */
  remove(): Promise<{ readonly removed: string | null }>
}

/** A sandbox in this process that listens on a port. */
export interface Sandbox extends SandboxControls, AsyncDisposable {
  /** `http://127.0.0.1:51234/v1` */
  readonly baseUrl: string
  /** `http://127.0.0.1:51234/__sandbox` */
  readonly controlUrl: string
  /** A fixture key: `key('pro')` is `sandbox-pro`; `key('pro', { sender: 'w3' })` names the client that sends it. */
  key(kind?: KeyKind, as?: KeySender): string
  /** Resolves when the port is free and everything is written. */
  close(): Promise<void>
}

/** Options of `sandbox.fetch`. */
export interface SandboxRequestInit extends RequestInit {
  /**
   * The request is forwarded for another client, such as a page behind Playwright's `page.route`, which receives the
   * response later than the caller does. Conduct counts the response as received after 250 ms.
   */
  readonly relayed?: boolean
}

/** A sandbox in this process without a socket. */
export interface SocketlessSandbox extends Sandbox {
  /** The address that its `fetch` responds to, without a server. */
  readonly baseUrl: string
  /** Like the global `fetch`, but it reaches only this sandbox. */
  fetch(input: string | URL | Request, init?: SandboxRequestInit): Promise<Response>
}

export function fixtureKey(kind: KeyKind = 'default', space = '', { sender = '' }: KeySender = {}): string {
  if (!KEY_KINDS.includes(kind))
    throw new ControlError('invalid_request', `The key ${quoted(kind)}: must be ${joinOr(KEY_KINDS)}.`)
  for (const [what, name] of Object.entries({ space, sender }))
    if (name !== '' && !isSpaceName(name))
      throw new ControlError('invalid_request', `The ${what} ${quoted(name)}: must be 1 to 64 of A-Z a-z 0-9 . _ -.`)
  return sentKeyText(kind === 'default' ? 'sandbox' : `sandbox-${kind}`, space, sender)
}

const PLANS = ['free', 'pro', 'business', 'enterprise'] as const satisfies readonly PlanName[]
const KEY_KINDS: readonly KeyKind[] = ['default', ...PLANS, 'limited', 'banned', 'revoked']

function spaceControls(transport: Transport, space: string): Controls {
  const callIn = async <Name extends VerbName>(verb: Name, at: string, ...[input]: OptionalInput<Name>) => {
    if (!isMap(input ?? {})) throw new ControlError('invalid_request', `The input ${quoted(input)}: must be a map.`)
    return (await transport.call(verb, at, input)) as VerbOutput<Name>
  }
  const call = <Name extends VerbName>(verb: Name, ...input: OptionalInput<Name>) => callIn(verb, space, ...input)
  const done = async <Name extends VerbName>(verb: Name, ...input: OptionalInput<Name>) =>
    void (await call(verb, ...input))
  // A key as clients send it may name its space.
  const onKey = async <Name extends KeyVerb>(verb: Name, sent: string, rest?: Omit<VerbInput<Name>, 'key'>) => {
    if (typeof sent !== 'string')
      throw new ControlError('invalid_request', `The key ${quoted(sent)}: must be a string.`)
    const at = splitKey(sent)
    if (at.space !== '' && space !== '' && at.space !== space) {
      const message = `The key "${sent}" is in the space "${at.space}", not in "${space}".`
      throw new ControlError('invalid_request', message)
    }
    const input = joined(rest, { key: at.key }) as OptionalInput<Name>[0]
    return callIn(verb, at.space === '' ? space : at.space, ...([input] as OptionalInput<Name>))
  }
  return {
    state: () => call('state'),
    reset: () => done('reset'),
    undo: (which = {}) => call('undo', which),
    overrides: Object.assign(() => call('overrides.list'), {
      clear: (only: VerbInput<'overrides.clear'> = {}) => call('overrides.clear', only),
    }),
    export: () => call('export'),
    clock: {
      show: () => call('clock.show'),
      set: (change) =>
        call('clock.set', change?.now instanceof Date ? { ...change, now: change.now.toISOString() } : change),
      advance: async (by, { timers } = {}) =>
        timers ? (await import('./waits.js')).advanceInLockstep(by, timers, call) : call('clock.advance', { by }),
      freeze: () => call('clock.set', { frozen: true }),
      resume: () => call('clock.set', { frozen: false }),
      reset: () => call('clock.reset'),
    },
    settings: {
      show: () => call('settings.show'),
      change: (settings) => call('settings.change', settings),
    },
    keys: {
      ...(Object.fromEntries(KEY_KINDS.map((kind) => [kind, fixtureKey(kind, space)])) as KeyNames),
      list: () => call('keys.list'),
      add: (key, plan) => call('keys.add', { key, ...(plan === undefined ? {} : { plan }) }),
      remove: async (sent) => void (await onKey('keys.remove', sent)),
    },
    plan: (sent, plan) => onKey('keys.change', sent, { plan }),
    ban: (sent, options = {}) => onKey('keys.ban', sent, options),
    unban: (sent) => onKey('keys.unban', sent),
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
    resources: () => call('resources.list'),
    resource: <Item extends object>(resource: string) =>
      ({
        list: (filter = {}) => call('records.list', joined(filter, { resource })),
        add: (record) => call('records.add', { resource, record: record as Record<string, unknown> }),
        set: (id, change) => call('records.set', { resource, id, change: change as Record<string, unknown> }),
        remove: (id) => done('records.remove', { resource, id }),
      }) as ResourceControls<Item>,
    orders: () => call('orders.list'),
    snapshots: {
      list: async () => (await call('snapshots.list')).map(({ name }) => name),
      save: (name) => done('snapshots.save', { name }),
      restore: (name) => done('snapshots.restore', { name }),
      remove: (name) => done('snapshots.remove', { name }),
    },
    requests: Object.assign((filter: RequestSelection = {}) => call('requests.list', filter), {
      follow: (filter: RequestFilter = {}, signal?: AbortSignal) => transport.follow(space, filter, signal),
      har: (filter: RequestSelection = {}) => call('requests.har', filter),
      replay: (id: number, change: ReplayChange = {}) => call('requests.replay', joined(change, { id })),
      clear: () => done('requests.clear'),
    }),
    waitForRequest: async (...how) => (await import('./waits.js')).waitForRequest(call, ...how),
    conduct: () => call('conduct'),
  }
}

type KeyVerb = 'keys.remove' | 'keys.change' | 'keys.ban' | 'keys.unban'

/** Adds fields to a caller's input. Anything but a map stays as it is, and is refused. */
function joined<Given extends object | undefined, Fields extends object>(given: Given, fields: Fields): Given & Fields {
  return isMap(given ?? {}) ? { ...given, ...fields } : (given as Given & Fields)
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function sandboxControls(transport: Transport): SandboxControls {
  const call = async <Name extends VerbName>(verb: Name, ...[input]: OptionalInput<Name>) =>
    (await transport.call(verb, '', input)) as VerbOutput<Name>
  const remove = (name: string) => call('spaces.remove', { name })
  return {
    ...spaceControls(transport, ''),
    spaces: { list: () => call('spaces.list'), remove },
    replicas: (options = {}) => call('replicas', options),
    space: (name) => ({
      ...spaceControls(transport, name),
      name,
      key: (kind, as) => fixtureKey(kind, name, as),
      copyFrom: async (source = '') =>
        void (await transport.call('spaces.copy', name, { name: source || DEFAULT_SPACE })),
      remove: () => remove(name),
    }),
    shutdown: async () => void (await call('shutdown')),
  }
}

/** Splits a key as clients send it: `sandbox-pro~checkout+w3` is `sandbox-pro` in `checkout`. */
export function splitKey(sent: string): { readonly key: string; readonly space: string } {
  const [key = '', place = ''] = sent.split(/~(.*)/s)
  const [space = ''] = place.split('+')
  return { key, space }
}
