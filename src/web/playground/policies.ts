import type { DurationMs } from '../../domain/time.js'

/** A response that asks the client to come back later. */
interface Refusal {
  readonly attempt: number
  readonly retryAfter: DurationMs | undefined
  readonly random: number
}

interface Policy {
  readonly label: string
  readonly description: string
  /** How long to wait before the next attempt; undefined to give up. */
  wait(refusal: Refusal): DurationMs | undefined
}

const FIXED_MS: DurationMs = 1000
const FIRST_MS: DurationMs = 500

/** Doubles with each attempt. Jitter keeps many clients from retrying at once. */
const backoff = ({ attempt, random }: Refusal): DurationMs => FIRST_MS * 2 ** (attempt - 1) * (1 + random)

export const POLICIES = {
  none: {
    label: 'None',
    description: 'Never retries, and goes on asking as if nothing had happened.',
    wait: () => undefined,
  },
  fixed: {
    label: 'Fixed',
    description: 'Retries every second, whatever the answer asks for.',
    wait: () => FIXED_MS,
  },
  exponential: {
    label: 'Exponential',
    description: 'Doubles its delay with each try, with jitter. Does not read Retry-After.',
    wait: backoff,
  },
  'retry-after': {
    label: 'Retry-After',
    description: 'Waits as long as Retry-After asks, and no shorter than its own doubling delay.',
    wait: (refusal) => Math.max(refusal.retryAfter ?? 0, backoff(refusal)),
  },
} as const satisfies Record<string, Policy>

export type PolicyName = keyof typeof POLICIES
export const POLICY_NAMES = Object.keys(POLICIES) as readonly PolicyName[]
