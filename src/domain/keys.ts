import type { PlanName } from '../contract/plan-names.js'

export { PLAN_NAMES, type PlanName } from '../contract/plan-names.js'

/** A condition that a key is always in, so that a test can choose it by the key alone. */
export const KEY_CONDITIONS = ['limited', 'banned', 'revoked'] as const
type KeyCondition = (typeof KEY_CONDITIONS)[number]

/** An API key that the sandbox knows. Without a plan it is on Free; the plan of the key `sandbox` is a setting. */
export interface ApiKey {
  readonly key: string
  /** How it is called wherever it is shown or written; without one it is no secret, and shown as it is. */
  readonly label?: string
  readonly plan?: PlanName
  readonly always?: KeyCondition
}

/** How a key is called in logs, reports, snapshots and by the control plane. */
export function labelOf({ key, label = key }: ApiKey): string {
  return label
}

/** The plan that a key was added with. */
export function startPlan({ plan = 'free' }: ApiKey): PlanName {
  return plan
}

/** The key whose plan and limits the settings choose. */
export const DEFAULT_KEY = 'sandbox'
