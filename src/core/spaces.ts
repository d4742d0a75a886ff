import type { ClockState } from '../domain/clock.js'
import type { ApiKey, PlanName } from '../domain/keys.js'
import type { Reply } from '../domain/messages.js'
import type { Pet } from '../domain/pets.js'
import { PROBLEMS } from '../domain/problems.js'
import type { Snapshot } from '../domain/snapshot.js'
import type { SpaceStart } from '../domain/space-start.js'
import { EMPTY_STATE, type SpaceState } from '../domain/state.js'
import { type DurationMs, type EpochMs, MINUTE_MS } from '../domain/time.js'
import type { Forward } from '../domain/upstream.js'
import type { SavedLog } from '../exchanges/exchange-log.js'
import { problem } from './answers.js'
import { readAuthorization } from './authorization.js'
import type { EndedCommand, ForwardedCommand, Instant, RequestCommand } from './command.js'
import { type Forwarded, loadForwarded, type SavedForwarded, saveForwarded } from './forwarded.js'
import { complete, handle, replyWith } from './handle-request.js'
import type { SavedKeyring } from './keyring.js'
import type { RoomState } from './memory-room.js'
import { type KeyHolding, type SavedSpace, Space, type Switches } from './space.js'
import type { SpaceContext } from './space-context.js'

/** What can be undone: only the last thing that took something away, as plain data. */
export interface Undo {
  /** The verb that did it. */
  readonly verb: string
  /** The space it was done to, empty for the default one. */
  readonly space: string
  /** Real time. */
  readonly at: EpochMs
  readonly before: Before
}

/** How it was before. */
export type Before =
  | { readonly kind: 'log'; readonly log: SavedLog }
  | { readonly kind: 'switches'; readonly switches: Switches }
  | { readonly kind: 'state'; readonly snapshot: Snapshot; readonly clock: ClockState }
  | { readonly kind: 'pet'; readonly pet: Pet; readonly rank: number }
  | { readonly kind: 'key'; readonly key: ApiKey; readonly held: readonly (readonly [space: string, KeyHolding])[] }
  | { readonly kind: 'space'; readonly saved: SavedSpace; readonly keys: SavedKeyring | null }

/** All that a sandbox is, as plain data. */
export interface SavedSpaces {
  readonly keys: SavedKeyring
  readonly room: RoomState
  readonly spaces: readonly SavedSpace[]
  readonly undo: Undo | null
  readonly forwarded: readonly SavedForwarded[]
}

/** All spaces of a sandbox: the default one, and those opened by their first request or control call. */
export class Spaces {
  readonly default: Space
  readonly #shared: SpaceContext
  #fixtures: SpaceState
  readonly #maxSpaces: number
  readonly #named = new Map<string, Space>()
  #undo: Undo | undefined
  /** Requests that the real service is asked, by the position of their command. */
  readonly #forwarded = new Map<number, Forwarded>()

  /** @param fixtures what a new space is seeded from */
  constructor(shared: SpaceContext, defaultSpace: Space, fixtures: SpaceState, maxSpaces: number) {
    this.#shared = shared
    this.default = defaultSpace
    this.#fixtures = fixtures
    this.#maxSpaces = maxSpaces
  }

  /** Names of the open spaces, without the default one. */
  names(): readonly string[] {
    return [...this.#named.keys()]
  }

  get(name: string): Space | undefined {
    return name === '' ? this.default : this.#named.get(name)
  }

  /** Finds a space, or opens it from the fixtures; undefined if there is no room for one more. */
  open(name: string, wall: EpochMs): Space | undefined {
    const known = this.get(name)
    if (known !== undefined) return known
    if (this.#named.size >= this.#maxSpaces) return undefined
    const space = new Space(name, this.#shared, wall, this.#fixtures)
    this.#named.set(name, space)
    return space
  }

  /** Adds a key to all spaces. @throws StoreFull */
  addKey(key: string, plan: PlanName): ApiKey {
    const apiKey: ApiKey = { ...this.#shared.keys.given(key), key, plan }
    this.#enter(apiKey, apiKey)
    return apiKey
  }

  /** @param kept as the store has it */
  #enter(apiKey: ApiKey, kept: ApiKey): void {
    const { keys } = this.#shared
    const { key } = apiKey
    let undo = () => {}
    if (keys.given(key) === undefined) this.default.keepKeys({ kind: 'key', key: kept }, () => undo())
    const back = keys.add(apiKey)
    // Also what it used in the meantime: it never was a key.
    undo = () => {
      back()
      for (const space of [this.default, ...this.#named.values()]) space.disown(key)
    }
  }

  /** Removes a key from all spaces. */
  removeKey(key: string): void {
    const { keys } = this.#shared
    let undo = () => {}
    if (keys.given(key) === undefined) this.default.keepKeys({ kind: 'key-removed', key }, () => undo())
    undo = both(keys.remove(key), this.#forgetKeys([key]))
  }

  /** A key with what it has in each space, for what removes it. */
  holdingsOf(apiKey: ApiKey): Before {
    const held = [this.default, ...this.#named.values()].map(
      (space) => [space.name, space.holdingOf(apiKey.key)] as const,
    )
    return { kind: 'key', key: apiKey, held }
  }

  /** @returns whether it could come back: there may be such a key again */
  #returnKey(apiKey: ApiKey, held: readonly (readonly [space: string, KeyHolding])[]): boolean {
    const { key } = apiKey
    if (this.#shared.keys.valid.has(key)) return false
    // The store has keys on the plans of the default space.
    const moved = held.find(([space]) => space === '')?.[1].plan ?? null
    this.#enter(apiKey, moved === null ? apiKey : { ...apiKey, plan: moved })
    for (const [name, holding] of held) this.get(name)?.giveBack(key, holding)
    return true
  }

  /**
   * Takes a space back to its start; with the default one, which keeps them, the keys of all spaces.
   *
   * @param fixtures from which all spaces start from now on
   */
  reset(space: Space, wall: EpochMs, fixtures: SpaceState = this.#fixtures): void {
    this.#reseed(fixtures)
    if (space !== this.default) {
      space.restart(wall)
      return
    }
    const { keys } = this.#shared
    const before = [...keys.valid.keys()]
    let undo = () => {}
    space.restart(wall, () => undo())
    const back = keys.replace(space.seed.keys)
    undo = both(back, this.#forgetKeys(before.filter((key) => !keys.valid.has(key))))
  }

  /** Remembers how it is now, before a verb takes something away: that of before it is forgotten. */
  remember(undo: Undo): void {
    this.#undo = undo
  }

  /**
   * Remembers all that a verb may do to a space, if a store keeps that, and what can be undone.
   *
   * @returns says that the verb is done: if changes of the same turn cannot be kept, it is taken back with them
   */
  remembering(space: Space): () => void {
    const undo = this.#undo
    const fixtures = this.#fixtures
    return space.remembering(() => {
      this.#undo = undo
      this.#reseed(fixtures)
    })
  }

  /** All of a space, for what takes all of it away. */
  wholeOf(space: Space): Before {
    return { kind: 'space', saved: space.save(), keys: space === this.default ? this.#shared.keys.save() : null }
  }

  /**
   * Takes back what was last done to a space, if that took something away and not long ago.
   *
   * @returns the verb that was undone; undefined if there is nothing
   */
  undo(space: Space, wall: EpochMs): string | undefined {
    const undo = this.#undo
    if (undo === undefined || undo.space !== space.name || wall - undo.at > UNDO_FOR_MS) return undefined
    const { before } = undo
    switch (before.kind) {
      case 'log':
        space.log.bringBack(before.log)
        break
      case 'switches':
        space.turnBack(before.switches, wall)
        break
      case 'state':
        space.restore(before.snapshot, wall)
        // A clock that ran has gone on.
        space.setClock(before.clock, wall)
        break
      case 'pet':
        if (space.pets.has(before.pet.id)) return undefined
        space.returnPet(before.pet, before.rank)
        break
      case 'key':
        if (!this.#returnKey(before.key, before.held)) return undefined
        break
      case 'space':
        this.#bringBack(space, before.saved, before.keys)
    }
    this.#undo = undefined
    return undo.verb
  }

  #bringBack(space: Space, saved: SavedSpace, keyring: SavedKeyring | null): void {
    const { keys } = this.#shared
    const now = keys.save()
    const back = () => keys.load(now)
    if (keyring !== null) keys.load(keyring)
    try {
      space.bringBack(saved, keyring === null ? undefined : back)
    } catch (error) {
      back()
      throw error
    }
  }

  /** From now on spaces start from this, and resets return to it. What spaces hold stays. */
  #reseed(fixtures: SpaceState): void {
    if (fixtures === this.#fixtures) return
    this.#fixtures = fixtures
    for (const space of [this.default, ...this.#named.values()]) space.reseed(fixtures)
  }

  /** From now on spaces start like this, and resets return to it. Settings, storm and faults change now where they start differently. */
  startAs(start: SpaceStart, wall: EpochMs): void {
    const before = this.#shared.start
    this.#shared.start = start
    for (const space of [this.default, ...this.#named.values()]) space.startAs(before, start, wall)
  }

  /** @returns takes it back */
  #forgetKeys(gone: readonly string[]): () => void {
    return [this.default, ...this.#named.values()].map((space) => space.forgetKeys(gone)).reduce(both, () => {})
  }

  /** The message when there is no room: the limit, and how to make room. */
  fullMessage(): string {
    const { message } = PROBLEMS.too_many_spaces
    return `${message} ${this.#maxSpaces} are open, which is the limit (--max-spaces). Remove one with DELETE /__sandbox/spaces/{name}.`
  }

  /** @returns whether there was such a space */
  remove(name: string): boolean {
    const space = this.#named.get(name)
    if (space === undefined) return false
    this.#shared.onForget(space)
    space.close()
    for (const [position, kept] of this.#forwarded)
      if (kept.space === name) this.#forwarded.set(position, { ...kept, isSpaceGone: true })
    return this.#named.delete(name)
  }

  /**
   * All of them as plain data: the default one first, the others in the order in which they were opened. It is a picture:
   * nothing that happens later changes it, so that it can be written little by little.
   */
  save(): SavedSpaces {
    return {
      keys: this.#shared.keys.save(),
      room: this.#shared.memoryRoom.state,
      spaces: [this.default, ...this.#named.values()].map((space) => space.save()),
      undo: this.#undo ?? null,
      forwarded: [...this.#forwarded].map(([position, kept]) => saveForwarded(position, kept)),
    }
  }

  /** Goes on from what others have saved, one space at each step; only for new ones. */
  *load({ keys, room, spaces, undo, forwarded }: SavedSpaces): Generator<void, void> {
    for (const saved of forwarded) this.#forwarded.set(...loadForwarded(saved))
    this.#undo = undo ?? undefined
    this.#shared.keys.load(keys)
    for (const saved of spaces) {
      const space =
        saved.name === '' ? this.default : new Space(saved.name, this.#shared, 0, this.#fixtures, EMPTY_STATE)
      if (saved.name !== '') this.#named.set(saved.name, space)
      space.load(saved)
      yield
    }
    this.#shared.memoryRoom.state = room
  }

  /** Answers a request in the space that its key names, or says what is to be sent on first. Never throws. */
  handle(command: RequestCommand, instant: Instant): Reply | Forward {
    const { request, refused } = command
    if (refused !== undefined)
      return replyWith(this.default, request, undefined, problem(refused, { outside: true }), instant)
    const { authorization } = request.headers
    const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
    if (sent === undefined) return this.#begin(this.default, command, undefined, instant)
    if (sent.space === '') return this.#begin(this.default, command, sent.token, instant)
    const { token, space: name } = sent
    // What follows a stranger's "~" may be the rest of somebody's real key: it becomes no space's name.
    if (!this.default.keys.has(token) && this.get(name) === undefined) {
      const isKept = this.default.anyKey || this.#shared.realService !== undefined
      return this.#begin(this.default, command, isKept ? `${token}~${name}` : '', instant)
    }
    const space = this.open(name, instant.now)
    if (space !== undefined) return this.#begin(space, command, token, instant)
    const message = this.fullMessage()
    return replyWith(this.default, request, token, problem('too_many_spaces', { message }), instant)
  }

  /** Answers a request that was sent on. Never throws. */
  complete({ of, outcome }: ForwardedCommand, instant: Instant): Reply {
    const kept = this.#forwarded.get(of)
    if (kept === undefined) throw new RangeError(`No request ${of} was sent on.`)
    this.#forwarded.delete(of)
    const space = kept.isSpaceGone ? undefined : this.get(kept.space)
    if (space !== undefined) return complete(space, kept, outcome, instant)
    // What was removed in between keeps nothing.
    const passing = new Space(kept.space, this.#shared, instant.now, this.#fixtures)
    const reply = complete(passing, kept, outcome, instant)
    passing.close()
    return reply
  }

  #begin(space: Space, command: RequestCommand, token: string | undefined, instant: Instant): Reply | Forward {
    const handled = handle(space, command, token, instant)
    if (!('forward' in handled)) return handled
    this.#forwarded.set(instant.position, handled.kept)
    return handled.forward
  }

  /** Hears what became of answers. */
  hear({ exchanges, unread = [] }: EndedCommand, instant: Instant): void {
    for (const ended of exchanges) {
      const space = this.get(ended.space)
      space?.log.end(ended)
      const { position, how, connection } = ended
      const wall = instant.now
      if (space?.conduct.isListening !== true) continue
      space.conduct.ended({ position, how, at: space.now(wall), wall, endedAt: instant.position, connection })
    }
    for (const { space, position } of unread) this.get(space)?.conduct.unread(position)
  }
}

/** How long something can be undone, in real time: who has not missed it by then will not. */
const UNDO_FOR_MS: DurationMs = MINUTE_MS

/** Takes back one thing, and another. */
function both(one: () => void, other: () => void): () => void {
  return () => {
    one()
    other()
  }
}
