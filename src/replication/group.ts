import { stringifyJson } from '../contract/json.js'
import { Failure } from '../domain/failures.js'
import type { SpaceStart } from '../domain/state.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'

/** A replica without an entry for this long, by the clock of the log, counts as gone. */
export const MEMBER_TIMEOUT_MS: DurationMs = 5 * SECOND_MS

/** A replica without an entry for this long is removed when another joins, and has to join again. */
const REMOVE_MEMBER_AFTER_MS: DurationMs = 60 * SECOND_MS

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

/** The members of a group and their common facts. All replicas compute them from the log, without locks. */
export interface Group {
  facts?: GroupFacts
  joined: number
  /** By id, in the order of joining. */
  readonly members: Record<string, Member>
}

/** `refused`: other members are alive and have other facts, or must not be restarted. */
export type JoinResult = 'joined' | 'founded' | 'refused'

/** @param number of the entry with the request */
export function addMember(
  group: Group,
  id: string,
  { name, version, facts, anew }: JoinRequest,
  now: EpochMs,
  number: number,
): JoinResult {
  if (anew !== undefined && (livingMembers(group, now).length > 0 || anew.after !== number - 1)) return 'refused'
  const isFounding = group.facts === undefined || anew !== undefined
  if (isFounding) {
    group.facts = facts
  } else if (group.facts !== undefined && differences(facts, group.facts).length > 0) return 'refused'
  for (const [other, { seenAt }] of Object.entries(group.members))
    if (isFounding || now - seenAt > REMOVE_MEMBER_AFTER_MS) delete group.members[other]
  const unknown = { joinedAt: now, seenAt: now, address: '', applied: number - 1, position: 0, lagMs: 0 }
  group.members[id] = { name, version, ordinal: ++group.joined, ...unknown }
  return isFounding ? 'founded' : 'joined'
}

/** @returns false if the replica is not a member: its entries are ignored */
export function touchMember({ members }: Group, id: string, now: EpochMs, heartbeat?: Heartbeat): boolean {
  const member = members[id]
  if (member !== undefined) members[id] = { ...member, ...heartbeat, seenAt: now }
  return member !== undefined
}

/** The oldest first. */
export function livingMembers({ members }: Group, now: EpochMs): readonly (readonly [id: string, Member])[] {
  return Object.entries(members).filter(([, { seenAt }]) => now - seenAt <= MEMBER_TIMEOUT_MS)
}

export const FIXTURES = 'the fixtures'

/** Describes each difference between two replicas, with both values unless they are secret. */
export function differences(own: GroupFacts, group: GroupFacts): readonly string[] {
  const [here, there] = [textsOf(own), textsOf(group)]
  const names = [...new Set([...here.keys(), ...there.keys()])].filter((name) => here.get(name) !== there.get(name))
  return names.map((name) =>
    name.startsWith('--')
      ? `${name} is ${here.get(name)} here and ${there.get(name)} in the group`
      : `${name} ${name.endsWith('s') ? 'differ' : 'differs'}`,
  )
}

function textsOf({ seed, start: { settings, ...start }, others }: GroupFacts): ReadonlyMap<string, string> {
  const starts = Object.entries({ ...settings, ...start })
  return new Map([
    ['--seed', String(seed)],
    ...starts.map(([name, value]) => [`the start (${name})`, stringifyJson(value ?? null)] as const),
    ...Object.entries(others),
  ])
}

export function groupDiffers(differing: readonly string[], living: readonly Member[], reset: boolean): Failure {
  const others = living.map(({ name, address }) => (address === '' ? name : `${name} (${address})`)).join(', ')
  const why = reset
    ? `The group cannot be restarted (--reset) while other replicas are running: ${others}.`
    : `The options of this replica differ from its group (running: ${others}): ${differing.join('; ')}.`
  return new Failure('GROUP_DIFFERS', `${why} Stop them first, start with the same options, or choose another --group.`)
}

export function unsavedChanges(misread: readonly string[]): Failure {
  return new Failure(
    'GROUP_DIFFERS',
    `The last replica of the group did not stop cleanly, and the options of this one may lose the group's last changes: ${misread.join('; ')}. Start a replica with the options of the group and stop it (control stop), or restart the group with --reset, which deletes its data.`,
  )
}
