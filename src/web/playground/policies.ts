import type { DurationMs } from '../../domain/time.js'

/** What a client knows when it decides how long to wait before it tries again. */
interface Refused {
  /** How often it has tried, 1 after the first refusal. */
  readonly tries: number
  /** What Retry-After asked for; undefined if nothing did. */
  readonly asked: DurationMs | undefined
  /** A random number, 0 to 1. */
  readonly luck: number
}

interface Policy {
  readonly label: string
  readonly description: string
  /** How long to wait; undefined to give up. */
  wait(refused: Refused): DurationMs | undefined
}

const FIXED_MS: DurationMs = 1000
const FIRST_MS: DurationMs = 500

/** Doubling, with up to as much again by chance, so that many clients do not come back at once. */
const growing = ({ tries, luck }: Refused): DurationMs => FIRST_MS * 2 ** (tries - 1) * (1 + luck)

/** How a client may treat an answer that asks it to come back later. */
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
    wait: growing,
  },
  'retry-after': {
    label: 'Retry-After',
    description: 'Waits as long as Retry-After asks, and no shorter than its own doubling delay.',
    wait: (refused) => Math.max(refused.asked ?? 0, growing(refused)),
  },
} as const satisfies Record<string, Policy>

export type PolicyName = keyof typeof POLICIES
export const POLICY_NAMES = Object.keys(POLICIES) as readonly PolicyName[]
