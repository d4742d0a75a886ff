/** Names of the plans, smallest first. @source docs/specification.md, "Rate limits by plan" */
export const PLAN_NAMES = ['free', 'pro', 'business', 'enterprise'] as const
export type PlanName = (typeof PLAN_NAMES)[number]
