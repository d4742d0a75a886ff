import type { Contract } from '../contract/contract.js'
import { type ApiKey, DEFAULT_KEY, type PlanName, startPlan } from '../domain/keys.js'
import { CUSTOM_LIMITS, type Limits } from '../domain/quota.js'
import type { Settings } from '../domain/settings.js'

/** Limits of a plan; for "custom", the sandbox's own choice. @source docs/specification.md, "Rate limits by plan" */
export function planLimits({ plans }: Contract, plan: PlanName): Limits {
  const { perMinute = CUSTOM_LIMITS.perMinute, perDay = CUSTOM_LIMITS.perDay } = plans[plan]
  return { perMinute, perDay }
}

/** Which plan each key has in a space, and what it may. */
export class PlanBook {
  readonly #contract: Contract
  #moved: ReadonlyMap<string, PlanName> = new Map()
  #limits = new WeakMap<ApiKey, Limits>()
  #limitsUnder: Settings | undefined

  constructor(contract: Contract) {
    this.#contract = contract
  }

  /** Plans that keys were moved to, by key. */
  get moved(): ReadonlyMap<string, PlanName> {
    return this.#moved
  }

  set moved(moved: ReadonlyMap<string, PlanName>) {
    this.#moved = moved
    this.#limits = new WeakMap()
  }

  /** Leaves out keys that are none any more; without any of them it stays as it is. */
  forget(gone: readonly string[]): void {
    if (!gone.some((key) => this.#moved.has(key))) return
    this.moved = new Map([...this.#moved].filter(([key]) => !gone.includes(key)))
  }

  /** The plan of the key `sandbox` is a setting. */
  planOf(apiKey: ApiKey, settings: Settings): PlanName {
    return apiKey.key === DEFAULT_KEY ? settings.plan : (this.#moved.get(apiKey.key) ?? startPlan(apiKey))
  }

  /** Called for every request, so it is kept for each key until the settings change. */
  limitsOf(apiKey: ApiKey, settings: Settings): Limits {
    if (this.#limitsUnder !== settings) {
      this.#limitsUnder = settings
      this.#limits = new WeakMap()
    }
    const known = this.#limits.get(apiKey)
    if (known !== undefined) return known
    const limits = this.#workOutLimits(apiKey, settings)
    this.#limits.set(apiKey, limits)
    return limits
  }

  #workOutLimits(apiKey: ApiKey, settings: Settings): Limits {
    const limits = planLimits(this.#contract, this.planOf(apiKey, settings))
    return apiKey.key === DEFAULT_KEY && settings.limits !== undefined ? { ...limits, ...settings.limits } : limits
  }
}
