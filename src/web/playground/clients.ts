import type { Conduct } from '../../conduct/conduct-view.js'
import { type RandomStream, randomStream } from '../../domain/random.js'
import { type DurationMs, type EpochMs, HOUR_MS, SECOND_MS } from '../../domain/time.js'
import { type Policy, readPolicy } from './policy.js'
import type { TimedResponse } from './worker-messages.js'

/** Each client has a task twice a second. A task ends when a request succeeds, or when the policy drops it. */
export const TASK_MS: DurationMs = 500
const SHORTEST_WAIT_MS: DurationMs = 50

export const OUTCOMES = ['served', 'broken', 'limited', 'banned'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface Client {
  readonly name: string
  readonly description: string
  readonly space: string
  readonly policy: string
  readonly decide: Policy
  readonly random: RandomStream
  readonly startedAt: EpochMs
  readonly marks: Outcome[]
  readonly counts: Record<Outcome, number>
  nextAt: EpochMs
  taskAt: EpochMs
  attempt: number
  bannedUntil: EpochMs
  conduct: Conduct | undefined
}

export const OWN_SPACE = 'yours'

const KINDS = [
  ['No retry', 'Drops the request and sends the next one.', 'no-retry', 'giveUp'],
  ['Every second', 'Never reads Retry-After.', 'every-second', '1'],
  ['Exponential', 'Doubles its delay, with jitter.', 'exponential', 'backoff'],
  ['Retry-After', 'Waits for Retry-After.', 'retry-after', 'retryAfter ?? backoff'],
] as const

export function openClients(own: string, startedAt: EpochMs): readonly Client[] {
  const kinds = [...KINDS, ['Yours', 'Waits as long as you write.', OWN_SPACE, own] as const]
  return kinds.map(([name, description, space, policy]) => ({
    name,
    description,
    space,
    policy,
    decide: readPolicy(policy),
    random: randomStream(space),
    startedAt,
    marks: [],
    counts: { served: 0, broken: 0, limited: 0, banned: 0 },
    nextAt: startedAt,
    taskAt: startedAt,
    attempt: 0,
    bannedUntil: 0,
    conduct: undefined,
  }))
}

function outcomeOf({ status, isBanned }: TimedResponse): Outcome {
  if (isBanned) return 'banned'
  if (status === 429) return 'limited'
  return status >= 200 && status < 300 ? 'served' : 'broken'
}

export function receive(client: Client, response: TimedResponse): void {
  const { status, retryAfter, at, isBanned } = response
  const outcome = outcomeOf(response)
  client.marks[Math.floor((client.nextAt - client.startedAt) / TASK_MS)] = outcome
  client.counts[outcome]++
  client.bannedUntil = isBanned ? at + (retryAfter ?? 0) * SECOND_MS : 0
  client.attempt++
  const { attempt } = client
  const wait =
    outcome === 'served'
      ? Number.POSITIVE_INFINITY
      : client.decide({ status, attempt, retryAfter, random: client.random.next() })
  if (wait === Number.POSITIVE_INFINITY) {
    client.attempt = 0
    client.taskAt = Math.max(client.taskAt + TASK_MS, at)
    client.nextAt = client.taskAt
  } else client.nextAt = Math.round(at + Math.min(Math.max(SHORTEST_WAIT_MS, wait * SECOND_MS), HOUR_MS))
}

export type Verdict = 'unjudged' | 'keeps' | 'warned' | 'breaks' | 'banned'

export function verdictOf({ conduct, bannedUntil }: Client, now: EpochMs): Verdict {
  if (bannedUntil > now) return 'banned'
  if (conduct === undefined || conduct.requests === 0) return 'unjudged'
  if (conduct.violations.length > 0) return 'breaks'
  return conduct.warnings.length > 0 ? 'warned' : 'keeps'
}
