import { unknownSpaceMessage } from '../conduct/finding-drafts.js'
import { type ApiKey, DEFAULT_KEY, readAuthorization } from '../domain/keys.js'
import type { Reply } from '../domain/messages.js'
import { PROBLEMS } from '../domain/problems.js'
import type { Change, SpaceStart, StoredState } from '../domain/state.js'
import { type DurationMs, type EpochMs, MINUTE_MS } from '../domain/time.js'
import type { Command, EndedCommand, Forward, Instant, RequestCommand, VerbCommand } from './command.js'
import { handle, replyWith } from './handle-request.js'
import type { Keys } from './keyring.js'
import { ruleBytes } from './memory-budget.js'
import { openSpace } from './open-space.js'
import { problem } from './responses.js'
import { Space } from './space.js'
import type { SpaceContext } from './space-context.js'
import { originsAfter, share } from './space-state.js'
import { Transaction } from './transaction.js'
import { forgetKey, movePlan, startAs } from './transitions.js'
import { keysBefore, type Undo } from './undo.js'

interface SpaceVerb {
  readonly name: string
  readonly id: number
  readonly canUndo: boolean
  /** Of the switches that it sets; undefined if it restores a state, which brings its own origins. */
  readonly origin: string | undefined
  /** The space was opened only for this verb, and closes again unless the verb changes it. */
  readonly isTemporary: boolean
}

export interface RemovedSpace {
  readonly name: string
  readonly undo: Undo
}

/** @throws VerbError without changing any state */
export type ApplyVerb = (spaces: Spaces, command: VerbCommand, instant: Instant) => unknown

/**
 * The spaces of a sandbox, as a deterministic machine: the same commands in the same order, at the same instants, give
 * the same responses and the same state. It reads no clock and no file, draws only from its seed, and never waits.
 */
export class Spaces {
  readonly default: Space
  readonly #shared: SpaceContext
  #fixtures: StoredState
  readonly #maxSpaces: number
  readonly #named = new Map<string, Space>()
  removedSpace: RemovedSpace | undefined
  /** Position of the running verb. */
  #latestVerb = 0
  /** When the first undo expires, in real time. */
  nextExpiry = Number.POSITIVE_INFINITY
  readonly #unknownSpaces = new Set<string>()

  constructor(shared: SpaceContext, defaultSpace: Space, fixtures: StoredState, maxSpaces: number) {
    this.#shared = shared
    this.default = defaultSpace
    this.#fixtures = fixtures
    this.#maxSpaces = maxSpaces
  }

  /**
   * Returns the reply to a request (or that it must be forwarded), or the output of a verb.
   * @param applyVerb is loaded only for verbs
   * @throws VerbError without changing any state
   */
  apply(command: RequestCommand & Required<Pick<RequestCommand, 'refused'>>, instant: Instant): Reply
  apply(command: RequestCommand, instant: Instant): Reply | Forward
  apply(command: Command, instant: Instant, applyVerb?: ApplyVerb): unknown
  apply(command: Command, instant: Instant, applyVerb?: ApplyVerb): unknown {
    const outcome = this.#apply(command, instant, applyVerb)
    this.#dropExpired(instant.now)
    return outcome
  }

  #apply(command: Command, instant: Instant, applyVerb: ApplyVerb | undefined): unknown {
    switch (command.kind) {
      case 'request':
        return this.#handle(command, instant)
      case 'ended':
        return this.#recordEnds(command, instant)
      case 'verb':
        return applyVerb?.(this, command, instant)
    }
  }

  /** Without the default one. */
  names(): readonly string[] {
    return [...this.#named.keys()]
  }

  get(name: string): Space | undefined {
    return name === '' ? this.default : this.#named.get(name)
  }

  /** Opens it if necessary; undefined if there are too many. @param isTemporary may be one more for the time of a verb */
  open(name: string, wall: EpochMs, isTemporary = false): Space | undefined {
    const known = this.get(name)
    if (known !== undefined) return known
    if (this.#named.size >= this.#maxSpaces && !isTemporary) return undefined
    const space = new Space(name, this.#shared, wall, this.#fixtures)
    this.#named.set(name, space)
    return space
  }

  /** Adds a key to all spaces. @throws StoreFull */
  addKey(key: string, plan: string | undefined): ApiKey {
    const { keys } = this.#shared
    const apiKey: ApiKey = { ...keys.given(key), key, ...(plan === undefined ? {} : { plan }) }
    this.#keepKey({ kind: 'key', key: apiKey })
    for (const space of this.all()) {
      space.commit(forgetKey(space.state, apiKey))
      // The plan of this key is a setting.
      if (key === DEFAULT_KEY && plan !== undefined) space.commit(...movePlan(space.state, keys, apiKey, plan))
    }
    keys.all = keys.with(apiKey)
    return apiKey
  }

  /** Removes a key from all spaces. @throws StoreFull */
  removeKey(key: string): void {
    this.#keepKey({ kind: 'key-removed', key })
    this.#shared.keys.all = this.#shared.keys.without(key)
  }

  #keepKey(change: Change & { readonly kind: 'key' | 'key-removed' }): void {
    const key = change.kind === 'key' ? change.key.key : change.key
    if (this.#shared.keys.given(key) === undefined) this.default.commit({}, [change])
  }

  all(): readonly Space[] {
    return [this.default, ...this.#named.values()]
  }

  /** Resets a space; with the default one, the keys of all. @param fixtures the start of all spaces from now on */
  reset(space: Space, wall: EpochMs, fixtures: StoredState = this.#fixtures): void {
    this.#reseed(fixtures)
    space.restart(wall)
    if (space === this.default) this.#shared.keys.all = this.#shared.keys.replaced(space.seed.keys)
  }

  /**
   * Runs a verb as a whole or not at all: if it throws, or its changes cannot be stored, everything is as before, except a
   * snapshot on disk, which was written before. What it replaced is kept for an undo.
   */
  change<T>(space: Space, { name, id, canUndo, origin, isTemporary }: SpaceVerb, wall: EpochMs, run: () => T): T {
    const { keys } = this.#shared
    const handlersBefore = this.handlersOf(space.name)
    const before = { keys: keys.all, fixtures: this.#fixtures, removedSpace: this.removedSpace }
    const { requests, state } = space
    this.#latestVerb = id
    // The default space stores the keys, so it is part of every verb.
    const inDefault = new Transaction(this.default)
    const inSpace = space === this.default ? inDefault : new Transaction(space)
    try {
      const output = run()
      if (origin !== undefined && this.get(space.name) === space)
        space.commit({ origins: originsAfter(state, space.state, origin, wall) })
      if (inSpace !== inDefault) inDefault.end(wall)
      const replaced = inSpace.end(wall)
      const changedKeys = keys.all === before.keys ? undefined : { before: before.keys, after: keys.all }
      const hasChanged = replaced !== undefined || changedKeys !== undefined
      if (canUndo && hasChanged) {
        const { snapshots, file, conduct, log } = replaced ?? {}
        const handlers = this.handlersOf(space.name) === handlersBefore ? undefined : { before: handlersBefore }
        share(state)
        const facts = { id, verb: name, at: wall, requests, keys: changedKeys, handlers }
        space.undo = { ...facts, state, snapshots, file, conduct, log }
        if (this.removedSpace?.name === space.name) this.removedSpace = undefined
        this.#expectExpiry(wall)
      }
      if (isTemporary && (!hasChanged || this.#named.size > this.#maxSpaces)) this.close(space)
      return output
    } catch (error) {
      keys.all = before.keys
      this.setHandlers(space.name, handlersBefore)
      this.#reseed(before.fixtures)
      this.removedSpace = before.removedSpace
      inDefault.rollBack()
      inSpace.rollBack()
      throw error
    }
  }

  /** Also finds the undo of a verb that removed the space. */
  findUndo(space: Space, wall: EpochMs): Undo | undefined {
    const undo = space.undo ?? (this.removedSpace?.name === space.name ? this.removedSpace.undo : undefined)
    return undo !== undefined && wall - undo.at <= UNDO_FOR_MS ? undo : undefined
  }

  /**
   * Restores the state of the space before a verb, and the keys that the verb changed; see `Space.restore` for what stays.
   * @returns the number of requests since the verb, whose effects are gone as well
   * @throws StoreFull, Failure STORE_WRITE_FAILED
   */
  undo(space: Space, undo: Undo): number {
    const isOfRemovedSpace = space.undo === undefined
    const since = space.requests - (isOfRemovedSpace ? 0 : undo.requests)
    if (undo.keys !== undefined) this.#restoreKeys(keysBefore(this.#shared.keys, undo.keys))
    space.restore(undo)
    if (undo.handlers !== undefined) this.setHandlers(space.name, undo.handlers.before)
    if (isOfRemovedSpace) {
      space.requests = undo.requests
      this.removedSpace = undefined
    }
    space.undo = undefined
    return since
  }

  handlersOf(name: string): ReadonlyMap<string, unknown> | undefined {
    return this.#shared.handlers?.get(name)
  }

  setHandlers(name: string, handlers: ReadonlyMap<string, unknown> | undefined): void {
    if (handlers === undefined) this.#shared.handlers?.delete(name)
    else this.#shared.handlers?.set(name, handlers)
  }

  #restoreKeys(keys: Keys): void {
    const { stored } = this.#shared.keys
    for (const key of this.default.storedKeys(this.default.state.plans, keys))
      if (stored.get(key.key) !== keys.stored.get(key.key)) this.#keepKey({ kind: 'key', key })
    for (const key of stored.keys()) if (!keys.stored.has(key)) this.#keepKey({ kind: 'key-removed', key })
    this.#shared.keys.all = keys
  }

  /** Frees memory: the undo of a reset can hold a log and a million pets. */
  #dropExpired(wall: EpochMs): void {
    if (wall <= this.nextExpiry) return
    this.nextExpiry = Number.POSITIVE_INFINITY
    const keep = (undo: Undo | undefined): boolean => {
      if (undo === undefined || wall - undo.at > UNDO_FOR_MS) return false
      this.#expectExpiry(undo.at)
      return true
    }
    for (const space of this.all()) if (!keep(space.undo)) space.undo = undefined
    if (!keep(this.removedSpace?.undo)) this.removedSpace = undefined
  }

  #expectExpiry(at: EpochMs): void {
    this.nextExpiry = Math.min(this.nextExpiry, at + UNDO_FOR_MS)
  }

  #reseed(fixtures: StoredState): void {
    if (fixtures === this.#fixtures) return
    this.#fixtures = fixtures
    for (const space of this.all()) space.seed = fixtures
  }

  /** Changes the start of all spaces: settings, storm and faults at once, the rest with their next reset. */
  startAs(start: SpaceStart, wall: EpochMs): void {
    const before = this.#shared.start
    this.#shared.start = start
    for (const space of this.all()) {
      const { state, requests } = space
      const next = startAs(state, before, start, space.now(wall), requests)
      const rules = ruleBytes(next.faults ?? state.faults, start.faults) - ruleBytes(state.faults, before.faults)
      space.commit({ ...next, heldBytes: state.heldBytes + rules })
    }
  }

  fullMessage(): string {
    const { message } = PROBLEMS.too_many_spaces
    return `${message} ${this.#maxSpaces} are open, which is the limit (--max-spaces). Remove one with DELETE /__sandbox/spaces/{name}.`
  }

  /** @returns whether it existed */
  remove(name: string, wall: EpochMs): boolean {
    const space = this.#named.get(name)
    if (space === undefined) return false
    const { requests, state, snapshots, conduct } = space
    const handlers = { before: this.handlersOf(name) }
    const facts = { id: this.#latestVerb, verb: 'spaces.remove', at: wall, requests, keys: undefined, handlers }
    const undo = { ...facts, state, snapshots, conduct, log: space.log.save(), file: undefined }
    this.removedSpace = { name, undo }
    this.setHandlers(name, undefined)
    this.#expectExpiry(wall)
    this.close(space)
    return true
  }

  close(space: Space): void {
    space.keepPast()
    space.close()
    this.#named.delete(space.name)
  }

  /**
   * Whether a token may open the space that it names. Revoked and unknown keys do not: the name may be part of a
   * secret, except with `--any-key`.
   */
  canOpen(name: string, token: string): boolean {
    if (this.get(name) !== undefined) return true
    const apiKey = this.default.keys.get(token)
    return apiKey === undefined
      ? this.#shared.anyKey && this.#shared.upstream === undefined
      : apiKey.always !== 'revoked'
  }

  /** Never throws. */
  #handle(command: RequestCommand, instant: Instant): Reply | Forward {
    const { request, refused } = command
    if (refused !== undefined)
      return replyWith(this.default, request, undefined, problem(refused, { outside: true }), instant)
    const { authorization } = request.headers
    const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
    const { space, sent: key, refusal, unknownSpace } = openSpace(this, command, sent, instant.now)
    if (refusal !== undefined) return replyWith(space, request, key, refusal, instant, request.space === undefined)
    if (unknownSpace === undefined) return handle(space, command, key, instant)
    this.#warnOfUnknown(unknownSpace)
    return handle(space, { ...command, unknownSpace }, key, instant)
  }

  #warnOfUnknown(name: string): void {
    if (this.#unknownSpaces.size >= MAX_WARNINGS || this.#unknownSpaces.has(name)) return
    const message = unknownSpaceMessage(name)
    this.#unknownSpaces.add(name)
    this.#shared.warn(this.#shared.hide?.(message) ?? message)
  }

  #recordEnds({ exchanges, unread = [] }: EndedCommand, instant: Instant): void {
    for (const ended of exchanges) this.get(ended.space)?.recordEnd(ended, instant)
    for (const { space, position } of unread) this.get(space)?.conduct.unread(position)
  }
}

const MAX_WARNINGS = 100

/** Real time. */
export const UNDO_FOR_MS: DurationMs = MINUTE_MS
