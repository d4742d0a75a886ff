import type { PlanName } from '../contract/plan-names.js'

export { PLAN_NAMES, type PlanName } from '../contract/plan-names.js'

/** A misfortune that a key carries always, so that a test picks it by the key alone. */
export const KEY_CONDITIONS = ['limited', 'banned', 'revoked'] as const
export type KeyCondition = (typeof KEY_CONDITIONS)[number]

/** An API key that the sandbox knows. Without a plan it is on Free; the plan of the key `sandbox` is a setting. */
export interface ApiKey {
  readonly key: string
  readonly plan?: PlanName
  readonly always?: KeyCondition
}
