import { stringifyJson } from '../contract/json.js'
import type { SpaceStart } from '../domain/space-start.js'
import { type DurationMs, type EpochMs, SECOND_MS } from '../domain/time.js'
import type { EntryId } from './command-log.js'

/** Who says nothing for so long, by the clock of the log, is not there any more. */
export const LIVING_MS: DurationMs = 5 * SECOND_MS

/** What decides the answers of a group besides its commands: replicas agree only if all of it is the same. */
export interface GroupFacts {
  readonly seed: number
  readonly start: SpaceStart
  /** Everything else, as text by what it is called: `--base-path`, `the contract`. Of what is long or secret, digests. */
  readonly others: Readonly<Record<string, string>>
}

/** What a replica says of itself when it comes. */
export interface Hello {
  readonly name: string
  /** Of the package. */
  readonly version: string
  readonly facts: GroupFacts
  /**
   * How: it joins; or the group starts anew with its facts, after what it read up to an entry,
   * from the fixtures or from a state that is carried over.
   */
  readonly anew?: { readonly after: EntryId | undefined; readonly state?: string }
}

/** What a replica says of itself every now and then. */
export interface Beat {
  /** `host:port` where it listens; empty if nowhere. */
  readonly address: string
  /** The last entry that it has applied. */
  readonly applied: EntryId
  /** How many commands it has applied. */
  readonly position: number
  /** How long the last entry that it appended took to come back, in milliseconds. */
  readonly lagMs: number
}

/** A replica, as all of the group know it. */
export interface Member extends Omit<Beat, 'applied'> {
  readonly name: string
  readonly version: string
  /** Ordinal of its joining, which no other replica of the group ever has. */
  readonly ordinal: number
  readonly joinedAt: EpochMs
  /** When it last appended anything. */
  readonly seenAt: EpochMs
  /** Undefined until its first beat. */
  readonly applied: EntryId | undefined
  /** It has said nothing for so long that it counts as gone. */
  readonly isSilent: boolean
}

/** A replica as everybody sees it. */
export interface ReplicaView {
  readonly name: string
  /** `host:port`; empty if it listens nowhere. */
  readonly address: string
  readonly version: string
  /** How many commands it has applied: by its last word; of the one that was asked, now. */
  readonly position: number
  /** How long its last entry took to come back to it, in milliseconds. */
  readonly lagMs: number
  /** ISO 8601, UTC. */
  readonly since: string
  /** It is the one that was asked. */
  readonly isThis: boolean
  /** Of the one that was asked, if that was asked for: SHA-256 of all that it holds, in base64. Replicas at the same position have the same. */
  readonly digest?: string
}

/** A group as plain data. */
export interface SavedGroup {
  readonly facts: GroupFacts | undefined
  readonly joined: number
  /** By replica, in the order in which they came. */
  readonly members: readonly (readonly [string, Member])[]
}

/** What became of a hello. `refused`: others live, and hold other facts, or are not to be started anew. */
export type Welcome = 'joined' | 'founded' | 'refused'

/**
 * Who is in a group, and what its members have agreed on. Everybody who reads the
 * log comes to the same, so that nobody has to be asked: no lock, no second truth.
 */
export class Group {
  #facts: GroupFacts | undefined
  #joined = 0
  readonly #members = new Map<string, Member>()

  /** Undefined before the first replica came. */
  get facts(): GroupFacts | undefined {
    return this.#facts
  }

  /** Takes in a replica, or not. @param before the entry before its hello */
  welcome(replica: string, hello: Hello, now: EpochMs, before: EntryId | undefined): Welcome {
    const others = this.living(now)
    const isFounding = this.#facts === undefined || hello.anew !== undefined
    // Whoever starts a group anew must know all of it.
    if (hello.anew !== undefined && (others.length > 0 || hello.anew.after !== before)) return 'refused'
    if (this.#facts === undefined || isFounding) {
      this.#facts = hello.facts
      this.#members.clear()
    } else if (differences(hello.facts, this.#facts).length > 0) return 'refused'
    for (const [name, { seenAt }] of this.#members) if (now - seenAt > FORGOTTEN_MS) this.#members.delete(name)
    const { name, version } = hello
    const ordinal = ++this.#joined
    const unheard = { address: '', position: 0, lagMs: 0, applied: undefined }
    this.#members.set(replica, { name, version, ordinal, joinedAt: now, seenAt: now, isSilent: false, ...unheard })
    return isFounding ? 'founded' : 'joined'
  }

  /** A replica appended something. @returns it; undefined if it is none of the group, so that nothing of it counts */
  hear(replica: string, now: EpochMs, beat?: Beat): Member | undefined {
    const member = this.#members.get(replica)
    if (member === undefined) return undefined
    const heard = { ...member, ...beat, seenAt: now, isSilent: false }
    this.#members.set(replica, heard)
    return heard
  }

  /** Who has become silent by now: each once, until it says something again. */
  fallenSilent(now: EpochMs): readonly string[] {
    const silent: string[] = []
    for (const [replica, member] of this.#members) {
      if (member.isSilent || now - member.seenAt <= LIVING_MS) continue
      this.#members.set(replica, { ...member, isSilent: true })
      silent.push(replica)
    }
    return silent
  }

  leave(replica: string): void {
    this.#members.delete(replica)
  }

  /** From now on the group starts spaces from these fixtures. */
  reseed(digest: string): void {
    if (this.#facts === undefined) return
    this.#facts = { ...this.#facts, others: { ...this.#facts.others, [FIXTURES]: digest } }
  }

  /** Those who are there, the oldest first. */
  living(now: EpochMs): readonly (readonly [string, Member])[] {
    return [...this.#members].filter(([, { seenAt }]) => now - seenAt <= LIVING_MS)
  }

  save(): SavedGroup {
    return { facts: this.#facts, joined: this.#joined, members: [...this.#members] }
  }

  /** Only for a new one. */
  load({ facts, joined, members }: SavedGroup): void {
    this.#facts = facts
    this.#joined = joined
    for (const [replica, member] of members) this.#members.set(replica, member)
  }
}

/** Whoever hung for longer is forgotten when somebody else comes, and has to come again itself. */
const FORGOTTEN_MS: DurationMs = 60 * SECOND_MS

/** What the digest of the fixtures is called among the facts. */
export const FIXTURES = 'the fixtures'

/** Says what of two replicas' facts is not the same, each with both values; empty if they agree. */
export function differences(own: GroupFacts, group: GroupFacts): readonly string[] {
  const differing: string[] = []
  if (own.seed !== group.seed) differing.push(`--seed is ${own.seed} here and ${group.seed} in the group`)
  if (stringifyJson(own.start) !== stringifyJson(group.start))
    differing.push(`the start (${differingParts(own.start, group.start).join(', ')}) is another one`)
  for (const name of new Set([...Object.keys(own.others), ...Object.keys(group.others)])) {
    const [here, there] = [own.others[name], group.others[name]]
    if (here === there) continue
    differing.push(
      name.startsWith('--')
        ? `${name} is ${here ?? 'unknown'} here and ${there ?? 'unknown'} in the group`
        : `${name} ${name.endsWith('s') ? 'are' : 'is'} not the same`,
    )
  }
  return differing
}

function differingParts(own: SpaceStart, group: SpaceStart): readonly string[] {
  const parts: readonly (keyof SpaceStart)[] = ['storm', 'faults', 'now', 'freeze', 'used', 'bans']
  const settings = new Set([...Object.keys(own.settings), ...Object.keys(group.settings)])
  const text = (value: unknown) => stringifyJson(value ?? null)
  return [
    ...[...settings].filter(
      (name) =>
        text(Object.getOwnPropertyDescriptor(own.settings, name)?.value) !==
        text(Object.getOwnPropertyDescriptor(group.settings, name)?.value),
    ),
    ...parts.filter((part) => text(own[part]) !== text(group[part])),
  ]
}
