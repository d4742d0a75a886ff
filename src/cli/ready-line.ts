import type { PlanName } from '../domain/keys.js'

/** Facts about a sandbox that has just started. */
export interface ReadyFacts {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly pid: number
  readonly plan: PlanName
  readonly pets: number
  readonly seed: number
  /** The real service that it is in front of. */
  readonly upstream?: string | undefined
}

/** @source docs/cli.md, "Ready line" */
export function prettyReady({ baseUrl, controlUrl, plan, pets, seed, upstream }: ReadyFacts): string {
  const behind = upstream === undefined ? '' : ` in front of ${upstream}`
  return `Ready on ${baseUrl}${behind} (plan ${plan}, ${pets} pets, seed ${seed}); dashboard ${controlUrl}/`
}

export function jsonReady({ baseUrl, controlUrl, pid, plan, pets, seed, upstream }: ReadyFacts): string {
  return JSON.stringify({ event: 'ready', baseUrl, controlUrl, pid, plan, pets, seed, upstream })
}
