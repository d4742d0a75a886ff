import { stringifyJson } from '../contract/json.js'
import type { SpaceStart } from '../domain/state.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'

/** A replica without an entry for this long, by the clock of the log, is gone, and has to join again. */
export const MEMBER_TIMEOUT_MS: DurationMs = 5 * SECOND_MS

/** Values that affect the responses of a group, besides its commands. All replicas must agree on them. */
export interface GroupFacts {
  readonly seed: number
  readonly start: SpaceStart
  /** Other values as text, by name: `--base-path`, `the contract`. Long or secret values as digests. */
  readonly others: Readonly<Record<string, string>>
}

export interface JoinRequest {
  readonly name: string
  readonly version: string
  readonly facts: GroupFacts
  /**
   * Restarts the group with these facts, from the fixtures or from `state`. Refused unless `after` is the number of
   * the entry before this one, so that the replica has read the whole log.
   */
  readonly anew?: { readonly after: number; readonly state?: string }
}

export interface Heartbeat {
  /** `host:port`; empty if it does not listen. */
  readonly address: string
  /** Number of the last applied entry. */
  readonly applied: number
  readonly position: number
  readonly lagMs: number
}

export interface Member extends Heartbeat {
  readonly name: string
  readonly version: string
  /** In the order of joining; never reused in a group. */
  readonly ordinal: number
  readonly joinedAt: EpochMs
  readonly seenAt: EpochMs
}

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

export interface SavedGroup {
  readonly facts: GroupFacts | undefined
  readonly joined: number
  readonly members: readonly (readonly [string, Member])[]
}

/** `refused`: other members are alive and have other facts, or must not be restarted. */
export type JoinResult = 'joined' | 'founded' | 'refused'

/** The members of a group and their common facts. All replicas compute them from the log, without locks. */
export class Group {
  #facts: GroupFacts | undefined
  #joined = 0
  readonly #members = new Map<string, Member>()

  get facts(): GroupFacts | undefined {
    return this.#facts
  }

  /** @param number of the entry with the request */
  join(replica: string, { name, version, facts, anew }: JoinRequest, now: EpochMs, number: number): JoinResult {
    if (anew !== undefined && (this.living(now).length > 0 || anew.after !== number - 1)) return 'refused'
    const isFounding = this.#facts === undefined || anew !== undefined
    if (this.#facts === undefined || isFounding) {
      this.#facts = facts
      this.#members.clear()
    } else if (differences(facts, this.#facts).length > 0) return 'refused'
    const ordinal = ++this.#joined
    const heartbeat = { address: '', applied: number - 1, position: 0, lagMs: 0 }
    this.#members.set(replica, { name, version, ordinal, joinedAt: now, seenAt: now, ...heartbeat })
    return isFounding ? 'founded' : 'joined'
  }

  /** @returns false if the replica is not a member: its entries are ignored */
  touch(replica: string, now: EpochMs, heartbeat?: Heartbeat): boolean {
    const member = this.#members.get(replica)
    if (member === undefined) return false
    this.#members.set(replica, { ...member, ...heartbeat, seenAt: now })
    return true
  }

  /** Removes the members that are gone. @param sender of the entry, which is not @returns their ids */
  expire(now: EpochMs, sender: string): readonly string[] {
    const isGone = ([id, { seenAt }]: [string, Member]) => id !== sender && now - seenAt > MEMBER_TIMEOUT_MS
    const gone = [...this.#members].filter(isGone).map(([id]) => id)
    for (const id of gone) this.#members.delete(id)
    return gone
  }

  find(replica: string): Member | undefined {
    return this.#members.get(replica)
  }

  leave(replica: string): void {
    this.#members.delete(replica)
  }

  reseed(digest: string): void {
    if (this.#facts === undefined) return
    this.#facts = { ...this.#facts, others: { ...this.#facts.others, [FIXTURES]: digest } }
  }

  /** The oldest first. */
  living(now: EpochMs): readonly (readonly [string, Member])[] {
    return [...this.#members].filter(([, { seenAt }]) => now - seenAt <= MEMBER_TIMEOUT_MS)
  }

  save(): SavedGroup {
    return { facts: this.#facts, joined: this.#joined, members: [...this.#members] }
  }

  load({ facts, joined, members }: SavedGroup): void {
    this.#facts = facts
    this.#joined = joined
    for (const [replica, member] of members) this.#members.set(replica, member)
  }
}

export const FIXTURES = 'the fixtures'

/** Describes each difference between two replicas, with both values unless they are secret. */
export function differences(own: GroupFacts, group: GroupFacts): readonly string[] {
  const found: string[] = []
  if (own.seed !== group.seed) found.push(`--seed is ${own.seed} here and ${group.seed} in the group`)
  const parts = [
    ...differentFields(own.start.settings, group.start.settings),
    ...differentFields({ ...own.start, settings: 0 }, { ...group.start, settings: 0 }),
  ]
  if (parts.length > 0) found.push(`the start (${parts.join(', ')}) differs`)
  for (const name of differentFields(own.others, group.others)) {
    const [here = 'unknown', there = 'unknown'] = [own.others[name], group.others[name]]
    if (name.startsWith('--')) found.push(`${name} is ${here} here and ${there} in the group`)
    else found.push(`${name} ${name.endsWith('s') ? 'differ' : 'differs'}`)
  }
  return found
}

function differentFields(one: object, other: object): readonly string[] {
  const [here, there] = [one, other].map((fields) => new Map(Object.entries(fields)))
  const text = (fields: ReadonlyMap<string, unknown> | undefined, name: string) =>
    stringifyJson(fields?.get(name) ?? null)
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (name) => text(here, name) !== text(there, name),
  )
}
