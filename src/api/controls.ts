import type { Conduct } from '../conduct/conduct-view.js'
import type { NewPet, Pet } from '../contract/entities.js'
import type { Int64 } from '../contract/int64.js'
import type { ClockView, FaultView, KeyView, SpaceView, StateView, StormView } from '../control/views.js'
import type { FaultRule } from '../domain/faults.js'
import type { PlanName } from '../domain/keys.js'
import type { OptionalSetting } from '../domain/settings.js'
import type { Exchange } from '../exchanges/exchange-view.js'
import type { SandboxOptions, ScenarioContent, SettingsInput, StormOption } from '../options/options.js'
import type { SettingsView } from '../options/settings-view.js'

/** A verb's name and input on their way to a sandbox, in this process or over the network. */
export interface Transport {
  /** Rejects with a ControlError when the verb refuses. */
  steer(verb: string, space: string, input?: object): Promise<unknown>
  /** Exchanges as they happen, until the signal is aborted or the sandbox stops. */
  follow(space: string, filter: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
}

/** A verb refused; nothing was changed. */
export class ControlError extends Error {
  override readonly name = 'ControlError'
  /** `invalid_request`, `not_found`, `conflict`, `too_many_spaces`, `forbidden` … */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Which exchanges to give. */
export interface RequestFilter {
  readonly operation?: string
  readonly status?: number
  /** Label of the key, without its space. */
  readonly key?: string
  readonly reason?: string
}

/** Which fixture key: the one on `--plan`, one of a plan, or one of a misfortune. */
export type KeyKind = 'default' | PlanName | 'limited' | 'banned' | 'revoked'

/** The fixture keys, to be sent as `Authorization: Bearer <key>`. */
export type KeyNames = { readonly [Kind in KeyKind]: string }

/** Switches that can be turned while a space runs; null takes limits or latency away. */
export type SettingsPatch = {
  readonly [Name in keyof SettingsInput]: SettingsInput[Name] | (Name extends OptionalSetting ? null : never)
}

/** What can be done to a space. Durations are text (`30s`), instants ISO 8601. Every verb rejects with a ControlError when it refuses. */
export interface Controls {
  state(): Promise<StateView>
  /** Back to the start; snapshots stay. */
  reset(): Promise<void>
  readonly clock: {
    show(): Promise<ClockView>
    set(change: { readonly now?: string | Date; readonly frozen?: boolean }): Promise<ClockView>
    advance(by: string): Promise<ClockView>
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
  ban(key: string, options?: { readonly for?: string }): Promise<KeyView>
  unban(key: string): Promise<KeyView>
  readonly storm: {
    show(): Promise<StormView | null>
    /** Everything is refused if no rate is given. */
    start(storm?: StormOption): Promise<StormView>
    stop(): Promise<void>
  }
  readonly faults: {
    list(): Promise<readonly FaultView[]>
    set(rules: readonly (string | FaultRule)[]): Promise<readonly FaultView[]>
    add(rule: string | FaultRule): Promise<readonly FaultView[]>
    clear(): Promise<void>
  }
  sunset(mode: NonNullable<SandboxOptions['sunset']>): Promise<SettingsView>
  /** A packaged scenario's name, or the content of one. */
  scenario(scenario: string | ScenarioContent): Promise<StateView>
  readonly pets: {
    /** All of them, newest first. */
    list(): Promise<readonly Pet[]>
    add(pet: NewPet): Promise<Pet>
    /** Changes fields; null takes the status away. */
    set(
      id: Int64,
      change: Partial<Omit<NewPet, 'status'>> & { readonly status?: NewPet['status'] | null },
    ): Promise<Pet>
    remove(id: Int64): Promise<void>
  }
  readonly snapshots: {
    list(): Promise<readonly string[]>
    save(name: string): Promise<void>
    restore(name: string): Promise<void>
    remove(name: string): Promise<void>
  }
  readonly requests: {
    /** Exchanges, oldest first. `since` is an exchange's id or an instant; `limit` gives the newest so many. */
    (
      filter?: RequestFilter & { readonly since?: number | string; readonly limit?: number },
    ): Promise<readonly Exchange[]>
    /** Exchanges as they happen. Over the network, a reader who falls more than 500 behind misses the oldest. */
    follow(filter?: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
    clear(): Promise<void>
  }
  /** How well clients kept the service's rules since the start or the last reset. */
  conduct(): Promise<Conduct>
}

/** What can be done to a whole sandbox: to its default space, and to the spaces in it. */
export interface SandboxControls extends Controls {
  readonly spaces: {
    list(): Promise<readonly SpaceView[]>
    remove(name: string): Promise<void>
  }
  /** An isolated space, opened by its first use. */
  space(name: string): Space
  /** Stops the sandbox, as SIGTERM does; resolves when it has heard. */
  shutdown(): Promise<void>
}

/** An isolated copy of everything, for one test: the same controls, its own state. */
export interface Space extends Controls {
  readonly name: string
  /** A fixture key in this space. */
  key(kind?: KeyKind): string
  /** Removes it with everything in it. */
  remove(): Promise<void>
}

/** A fixture key, in a space if one is named. */
export function keyOf(kind: KeyKind, space = ''): string {
  const key = kind === 'default' ? 'sandbox' : `sandbox-${kind}`
  return space === '' ? key : `${key}~${space}`
}

/** The controls of one space, over whatever transport. */
export function controlsOf({ steer, follow }: Transport, space: string): Controls {
  // What a verb gives is known from the table of verbs; a test holds the two together.
  const call = <Output>(verb: string, input?: object) => steer(verb, space, input) as Promise<Output>
  const done = async (verb: string, input?: object) => void (await steer(verb, space, input))
  const names = Object.fromEntries(KEY_KINDS.map((kind) => [kind, keyOf(kind, space)])) as KeyNames
  const requests = Object.assign((filter: object = {}) => call<readonly Exchange[]>('requests.list', filter), {
    follow: (filter: RequestFilter = {}, signal?: AbortSignal) => follow(space, filter, signal),
    clear: () => done('requests.clear'),
  })
  return {
    state: () => call('state'),
    reset: () => done('reset'),
    clock: {
      show: () => call('clock.show'),
      set: ({ now, ...change }) =>
        call('clock.set', {
          ...change,
          ...(now === undefined ? {} : { now: now instanceof Date ? now.toISOString() : now }),
        }),
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
      remove: (key) => done('keys.remove', { key }),
    },
    plan: (key, plan) => call('keys.change', { key: withoutSpace(key), plan }),
    ban: (key, options = {}) => call('keys.ban', { key: withoutSpace(key), ...options }),
    unban: (key) => call('keys.unban', { key: withoutSpace(key) }),
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
      list: () => call('pets.list'),
      add: (pet) => call('pets.add', pet),
      set: (id, change) => call('pets.change', { id, ...change }),
      remove: (id) => done('pets.remove', { id }),
    },
    snapshots: {
      list: async () => (await call<readonly { name: string }[]>('snapshots.list')).map(({ name }) => name),
      save: (name) => done('snapshots.save', { name }),
      restore: (name) => done('snapshots.restore', { name }),
      remove: (name) => done('snapshots.remove', { name }),
    },
    requests,
    conduct: () => call('conduct'),
  }
}

/** The controls of a whole sandbox, over whatever transport. */
export function sandboxControlsOf(transport: Transport): SandboxControls {
  return {
    ...controlsOf(transport, ''),
    spaces: {
      list: () => transport.steer('spaces.list', '') as Promise<readonly SpaceView[]>,
      remove: async (name) => void (await transport.steer('spaces.remove', '', { name })),
    },
    space: (name) => ({
      ...controlsOf(transport, name),
      name,
      key: (kind = 'default') => keyOf(kind, name),
      remove: async () => void (await transport.steer('spaces.remove', '', { name })),
    }),
    shutdown: async () => void (await transport.steer('shutdown', '')),
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

/** A key as clients send it may carry its space; verbs are told the space beside it. */
function withoutSpace(key: string): string {
  return key.split('~')[0] ?? key
}
