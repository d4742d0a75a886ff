import type { ContractData, PlanLimits } from '../contract/contract-data.js'
import type { ApiKey } from './keys.js'
import { joinOr } from './numbers.js'
import { CUSTOM_LIMITS, type Limits, NO_LIMITS } from './quota.js'

export type PlanData = Pick<ContractData, 'plans' | 'defaultPlan'>

export function planNames({ plans }: PlanData): readonly string[] {
  return Object.keys(plans)
}

/** @returns the problem of a plan that the contract does not have */
export function planProblem(contract: PlanData, plan: string | undefined): string | undefined {
  const names = planNames(contract)
  if (plan === undefined || names.includes(plan)) return undefined
  if (names.length === 0) return 'The contract has no x-plans. Use --limits.'
  return `The contract has no plan ${JSON.stringify(plan)}: must be ${joinOr(names)}.`
}

/** The plan that a key starts with; undefined without quotas. */
export function startPlan({ plans, defaultPlan }: PlanData, { plan }: ApiKey): string | undefined {
  return plan !== undefined && Object.hasOwn(plans, plan) ? plan : defaultPlan
}

/** Limits of a plan; for "custom", the sandbox's own choice. @source docs/specification.md, "Rate limits" */
export function planLimits({ plans }: PlanData, plan: string | undefined): Limits {
  if (plan === undefined) return NO_LIMITS
  const { perMinute = CUSTOM_LIMITS.perMinute, perDay = CUSTOM_LIMITS.perDay }: PlanLimits = plans[plan] ?? {}
  return { perMinute, perDay }
}
