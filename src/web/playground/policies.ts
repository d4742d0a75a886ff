import type { DurationMs } from '../../domain/time.js'

interface Refusal {
  readonly attempt: number
  readonly retryAfter: DurationMs | undefined
  readonly random: number
}

interface Policy {
  readonly label: string
  readonly description: string
  /** Delay before the next attempt; undefined to stop. */
  wait(refusal: Refusal): DurationMs | undefined
}

const FIXED_MS: DurationMs = 1000
const FIRST_MS: DurationMs = 500

/** Doubles with each attempt. Jitter spreads the retries of many clients. */
const backoff = ({ attempt, random }: Refusal): DurationMs => FIRST_MS * 2 ** (attempt - 1) * (1 + random)

export const POLICIES = {
  none: {
    label: 'None',
    description: 'Never retries, and keeps sending requests.',
    wait: () => undefined,
  },
  fixed: {
    label: 'Fixed',
    description: 'Retries every second, and ignores the response.',
    wait: () => FIXED_MS,
  },
  exponential: {
    label: 'Exponential',
    description: 'Doubles its delay with each try, with jitter. Ignores Retry-After.',
    wait: backoff,
  },
  'retry-after': {
    label: 'Retry-After',
    description: 'Waits for Retry-After, and at least for its own doubling delay.',
    wait: (refusal) => Math.max(refusal.retryAfter ?? 0, backoff(refusal)),
  },
} as const satisfies Record<string, Policy>

export type PolicyName = keyof typeof POLICIES
export const POLICY_NAMES = Object.keys(POLICIES) as readonly PolicyName[]
