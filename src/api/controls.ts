/// <reference lib="esnext.disposable" preserve="true" />

import type { Contract } from '../contract/contract.js'
import type { Open, OperationName } from '../contract/entities.js'
import type { PackagedInputs, PackagedRecords } from '../contract/generated/entities.js'
import type { Int64 } from '../contract/int64.js'
import { ControlError } from '../control/control-error.js'
import type { HandledTypes, OperationHandler } from '../control/handlers.js'
import type { ClockView } from '../control/views.js'
import { isSpaceName, KEY_CONDITIONS, NAME, NAME_FORM, sentKeyText } from '../domain/keys.js'
import { joinOr } from '../domain/numbers.js'
import { planNames } from '../domain/plans.js'
import type { DurationText } from '../domain/time.js'
import type { Exchange } from '../exchanges/exchange-record.js'
import { quoted } from '../options/problem.js'
import { methodMaker, type Transport } from './call-verb.js'
import { type SandboxMethods, type SpaceMethods, sandboxMethods, spaceMethods } from './generated/methods.js'
import type { FakeTimers, PageClock, RequestFilter, WaitOptions } from './inputs.js'

/** Picks a fixture key: the one on `--plan`, one on a fixed plan, or one that always fails in its own way. */
export type KeyKind = Open<NamedKey>

const NAMED_KEYS = ['default', 'free', 'pro', 'business', 'enterprise', ...KEY_CONDITIONS] as const
type NamedKey = (typeof NAMED_KEYS)[number]

/** The fixture keys of the packaged contract, to be sent as `Authorization: Bearer <key>`. */
export type KeyNames = { readonly [Kind in NamedKey]: string }

interface AdvanceInput {
  readonly by: DurationText
  readonly timers?: FakeTimers | undefined
  readonly page?: { readonly clock: PageClock } | undefined
}

/**
 * Controls of a space. Durations are strings (`30s`), instants ISO 8601. Every method rejects with a ControlError if it
 * refuses.
 */
export interface Controls extends Omit<SpaceMethods, 'clock' | 'keys' | 'records' | 'requests' | 'snapshots'> {
  readonly clock: Omit<SpaceMethods['clock'], 'advance'> & {
    advance(input: { readonly by: DurationText }): Promise<ClockView>
    /**
     * Moves it forward by a duration: `30s`, `1m`, `24h`.
     *
     * @param options.timers fake timers to advance with it, step by step, so that clients wait by the same clock
     * @param options.page a page of Playwright, whose clock is advanced with it in six steps
     */
    advance(by: DurationText, options?: Omit<AdvanceInput, 'by'>): Promise<ClockView>
  }
  readonly keys: KeyNames & SpaceMethods['keys']
  readonly snapshots: Omit<SpaceMethods['snapshots'], 'list'> & {
    /** The names of the snapshots. */
    list(): Promise<readonly string[]>
  }
  readonly requests: SpaceMethods['requests'] & {
    /** Exchanges as they end. Over the network, a reader that falls more than 500 behind misses the oldest. */
    follow(filter?: RequestFilter, signal?: AbortSignal): AsyncIterable<Exchange>
  }
  readonly records: RecordControls
  /**
   * Gives an operation behaviour of your own: `handle('cancelBooking', ({ path, records, now }) => …)`. That of a space wins
   * over that of the sandbox, and a later one replaces an earlier one. It stays after a reset.
   *
   * @throws ControlError if the sandbox runs in another process
   */
  handle<Of extends HandledTypes = object>(operation: OperationName, handler: OperationHandler<Of>): Promise<void>
  /**
   * Waits for a request in the log that matches, and returns the first. Without a status it may still be in progress.
   *
   * @throws ControlError `timeout`, with the requests that were received
   */
  waitForRequest(filter?: RequestFilter, options?: WaitOptions): Promise<Exchange>
}

type Id = Int64 | string
/** `asText` converts texts by the schema, such as those of a form. */
type AsText = { readonly asText: boolean }

/** The name of a resource, or the type of its records. */
type ResourceOrRecord = string | object
type NameOf<Of> = Of extends string ? Of : string
type RecordOf<Of> = Of extends keyof PackagedRecords
  ? PackagedRecords[Of]
  : Of extends string
    ? Record<string, unknown>
    : Of
type InputOf<Of> = Of extends keyof PackagedRecords
  ? PackagedInputs[Of] & Partial<PackagedRecords[Of]>
  : Of extends string
    ? object
    : Partial<Of>
/** Null removes a field. */
type ChangeOf<Of> = { readonly [Field in keyof RecordOf<Of>]?: RecordOf<Of>[Field] | null }

/**
 * The records of the contract's resources. Those of the packaged contract have its types; for another contract, give the
 * type of a record: `records.list<Booking>('bookings')`. Nested records have the ids of their parents as fields, which
 * `resources()` names.
 */
export interface RecordControls {
  /** All records, or those of a filter; newest first. */
  list<Of extends ResourceOrRecord = string>(
    resource: NameOf<Of>,
    filter?: { readonly limit?: number; readonly search?: string },
  ): Promise<readonly RecordOf<Of>[]>
  get<Of extends ResourceOrRecord = string>(resource: NameOf<Of>, id: Id): Promise<RecordOf<Of>>
  /** Adds a record, with read-only fields if given. Missing fields are filled in. */
  add<Of extends ResourceOrRecord = string>(resource: NameOf<Of>, record: InputOf<Of>): Promise<RecordOf<Of>>
  add<Of extends ResourceOrRecord = string>(
    resource: NameOf<Of>,
    record: object,
    options: AsText,
  ): Promise<RecordOf<Of>>
  /** Changes fields; null removes one. */
  set<Of extends ResourceOrRecord = string>(resource: NameOf<Of>, id: Id, change: ChangeOf<Of>): Promise<RecordOf<Of>>
  set<Of extends ResourceOrRecord = string>(
    resource: NameOf<Of>,
    id: Id,
    change: object,
    options: AsText,
  ): Promise<RecordOf<Of>>
  /** Removes a record and its nested records. */
  remove(resource: string, id: Id): Promise<{ readonly removed: unknown }>
}

/** Controls of a whole sandbox: its default space, and its other spaces. */
export interface SandboxControls extends Controls, SandboxMethods {
  /** An isolated space, opened by its first use. */
  space(name: string): SpaceControls
}

/** Controls of a sandbox that runs elsewhere. */
export interface ConnectedSandbox extends SandboxControls {
  space(name: string): ConnectedSpace
}

/** Names one of the clients that share a key. */
export interface KeySender {
  readonly sender?: string
}

/** An isolated copy of everything, for one test: the same controls, its own state. */
export interface SpaceControls extends Controls {
  readonly name: string
  /**
   * A fixture key in this space.
   *
   * @param as.sender name of the client that sends it: same key, quota and ban, but its own conduct
   */
  key(kind?: KeyKind, as?: KeySender): string
  /** Removes the space and everything in it. */
  remove(): Promise<{ readonly removed: string | null }>
}

/** A space of a sandbox in this process. */
export interface Space extends SpaceControls {
  /** `http://127.0.0.1:51234/~checkout/v1`: requests there are in this space, with whatever key, once it is open. */
  readonly baseUrl: string
}

/** A space of a sandbox that runs elsewhere. */
export interface ConnectedSpace extends SpaceControls {
  /** `http://127.0.0.1:4010/~checkout/v1`: requests there are in this space, with whatever key, once it is open. */
  baseUrl(): Promise<string>
}

/** A space of a sandbox without a socket. */
export interface SocketlessSpace extends Space {
  /** Sends requests to this space, unless their address names another. */
  fetch: SocketlessSandbox['fetch']
}

/** A sandbox in this process that listens on a port. */
export interface Sandbox extends SandboxControls, AsyncDisposable {
  space(name: string): Space
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
  space(name: string): SocketlessSpace
  /** The address that its `fetch` responds to, without a server. */
  readonly baseUrl: string
  /** Like the global `fetch`, but it reaches only this sandbox. */
  fetch(input: string | URL | Request, init?: SandboxRequestInit): Promise<Response>
}

/** @param contract undefined over the network */
export function fixtureKey(
  kind: KeyKind = 'default',
  space = '',
  { sender = '' }: KeySender = {},
  contract?: Contract,
): string {
  const plans = contract && planNames(contract)
  const kinds = plans && ['default', ...plans, ...KEY_CONDITIONS]
  if (kinds?.includes(kind) === false || !NAME.test(kind)) {
    const why = plans?.length === 0 ? 'The contract has no x-plans. Use --limits.' : ''
    const form = kinds === undefined ? NAME_FORM : joinOr(kinds)
    throw new ControlError('invalid_request', why || `The key ${quoted(kind)}: must be ${form}.`)
  }
  for (const [what, name] of Object.entries({ space, sender }))
    if (name !== '' && !isSpaceName(name))
      throw new ControlError('invalid_request', `The ${what} ${quoted(name)}: must be ${NAME_FORM}.`)
  return sentKeyText(kind === 'default' ? 'sandbox' : `sandbox-${kind}`, space, sender)
}

function spaceControls(transport: Transport, space: string): Controls {
  const verbs = spaceMethods(methodMaker(transport, space))
  const { clock, keys, records, requests, snapshots } = verbs
  return {
    ...verbs,
    clock: {
      ...clock,
      async advance(by: unknown, given?: object) {
        const { timers, page, ...input } = { ...(typeof by === 'object' ? by : by && { by }), ...given } as AdvanceInput
        if (timers === undefined && page === undefined) return clock.advance(input)
        const { advanceInLockstep, advanceWithPage } = await import('./waits.js')
        const controls = { clock, requests, look: transport.look?.bind(undefined, space) ?? verbs.state }
        if (page !== undefined) return advanceWithPage(input.by, page.clock, controls)
        return advanceInLockstep(input.by, timers as FakeTimers, controls)
      },
    },
    keys: {
      ...(Object.fromEntries(NAMED_KEYS.map((kind) => [kind, fixtureKey(kind, space)])) as KeyNames),
      ...keys,
    },
    snapshots: { ...snapshots, list: async () => (await snapshots.list()).map(({ name }) => name) },
    requests: Object.assign((...filter: Parameters<typeof requests>) => requests(...filter), requests, {
      follow: (filter: RequestFilter = {}, signal?: AbortSignal) => transport.follow(space, filter, signal),
    }),
    records: records as RecordControls,
    handle: (operation, handler) => transport.handle(space, operation, handler as never),
    waitForRequest: async (...how) => (await import('./waits.js')).waitForRequest(requests, ...how),
  }
}

/** @param partsOf what else a space has */
export function sandboxControls<Parts extends object = object>(
  transport: Transport,
  partsOf?: (space: string) => Parts,
  contract?: Contract,
) {
  const verbs = sandboxMethods(methodMaker(transport, ''))
  return {
    ...spaceControls(transport, ''),
    ...verbs,
    space: (name: string): SpaceControls & Parts => ({
      ...spaceControls(transport, name),
      ...(partsOf?.(name) as Parts),
      name,
      key: (kind, as) => fixtureKey(kind, name, as, contract),
      remove: () => verbs.spaces.remove(name),
    }),
  }
}
