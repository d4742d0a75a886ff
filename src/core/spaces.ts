import type { ApiKey, PlanName } from '../domain/keys.js'
import type { PendingReply, ServiceRequest } from '../domain/messages.js'
import { PROBLEMS } from '../domain/problems.js'
import type { SpaceState } from '../domain/state.js'
import type { EpochMs } from '../domain/time.js'
import { problem } from './answers.js'
import { readAuthorization } from './authorization.js'
import { handle, replyWith } from './handle-request.js'
import { Space, type SpaceContext } from './space.js'

/** All spaces of a sandbox: the default one, and those opened by their first request or control call. */
export class Spaces {
  readonly default: Space
  readonly #shared: SpaceContext
  readonly #fixtures: SpaceState
  readonly #maxSpaces: number
  readonly #named = new Map<string, Space>()

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

  /** Adds a key to all spaces. Like every verb, the store comes first, so that a failed write changes nothing. */
  async addKey(key: string, plan: PlanName): Promise<ApiKey> {
    const { keys } = this.#shared
    const given = keys.given(key)
    const apiKey: ApiKey = { ...given, key, plan }
    if (given === undefined) await this.default.keep({ kind: 'key', key: apiKey })
    keys.add(apiKey)
    return apiKey
  }

  /** Removes a key from all spaces. */
  async removeKey(key: string): Promise<void> {
    const { keys } = this.#shared
    if (keys.given(key) === undefined) await this.default.keep({ kind: 'key-removed', key })
    keys.remove(key)
    this.#forgetKeys([key])
  }

  /** Takes a space back to its start; with the default one, which keeps them, the keys of all spaces. */
  async reset(space: Space, wall: EpochMs): Promise<void> {
    await space.keep({ kind: 'replaced', state: space.seed })
    if (space === this.default) {
      const { keys } = this.#shared
      const before = [...keys.valid.keys()]
      keys.replace(space.seed.keys)
      this.#forgetKeys(before.filter((key) => !keys.valid.has(key)))
    }
    space.restart(wall)
  }

  #forgetKeys(gone: readonly string[]): void {
    for (const space of [this.default, ...this.#named.values()]) for (const key of gone) space.forgetKey(key)
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
    return this.#named.delete(name)
  }

  /** Answers a request in the space that its key names. @param wall what the wall clock says */
  handle(request: ServiceRequest, wall: EpochMs): PendingReply {
    const { authorization } = request.headers
    const sent = readAuthorization(typeof authorization === 'string' ? authorization : undefined)
    if (sent === undefined) return handle(this.default, request, undefined, wall)
    if (sent.space === '') return handle(this.default, request, sent.token, wall)
    const { token, space: name } = sent
    // What follows a stranger's "~" may be the rest of somebody's real key: it becomes no space's name.
    if (!this.default.keys.has(token) && this.get(name) === undefined)
      return handle(this.default, request, this.default.anyKey ? `${token}~${name}` : '', wall)
    const space = this.open(name, wall)
    if (space !== undefined) return handle(space, request, token, wall)
    const message = this.fullMessage()
    return replyWith(this.default, request, token, problem('too_many_spaces', { message }), wall)
  }
}
