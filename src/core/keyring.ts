import type { Contract } from '../contract/contract.js'
import { type ApiKey, DEFAULT_KEY, type PlanName, startPlan } from '../domain/keys.js'
import { CUSTOM_LIMITS, type Limits } from '../domain/quota.js'
import type { Settings } from '../domain/settings.js'

export interface SavedKeyring {
  readonly stored: readonly ApiKey[]
  readonly valid: readonly ApiKey[]
}

export interface Keys {
  /** Those that outlive the process. */
  readonly stored: ReadonlyMap<string, ApiKey>
  readonly valid: ReadonlyMap<string, ApiKey>
}

/** The keys of a sandbox, valid in all spaces. Plan, quotas and ban belong to each space. @source docs/behaviour.md, "Spaces" */
export class Keyring {
  readonly #given: ReadonlyMap<string, ApiKey>
  all: Keys

  /** @param stored of the store, or of the fixtures @param given at the start (--api-key): valid, but never stored */
  constructor(stored: readonly ApiKey[], given: readonly ApiKey[]) {
    this.#given = byKey(given)
    this.all = this.replaced(stored)
  }

  get valid(): ReadonlyMap<string, ApiKey> {
    return this.all.valid
  }

  get stored(): ReadonlyMap<string, ApiKey> {
    return this.all.stored
  }

  /** A key given at the start, even if it was removed since. */
  given(key: string): ApiKey | undefined {
    return this.#given.get(key)
  }

  with(apiKey: ApiKey): Keys {
    const { key } = apiKey
    return {
      stored: this.#given.has(key) ? this.stored : new Map(this.stored).set(key, apiKey),
      valid: new Map(this.valid).set(key, apiKey),
    }
  }

  without(key: string): Keys {
    const others = (keys: ReadonlyMap<string, ApiKey>) => new Map([...keys].filter(([other]) => other !== key))
    return { stored: this.#given.has(key) ? this.stored : others(this.stored), valid: others(this.valid) }
  }

  /** Only these, and those given at the start. */
  replaced(stored: readonly ApiKey[]): Keys {
    return { stored: byKey(stored), valid: byKey([...stored, ...this.#given.values()]) }
  }

  save(): SavedKeyring {
    return saveKeys(this.all)
  }

  load(saved: SavedKeyring): void {
    this.all = loadKeys(saved)
  }
}

export function loadKeys({ stored, valid }: SavedKeyring): Keys {
  return { stored: byKey(stored), valid: byKey(valid) }
}

export function saveKeys({ stored, valid }: Keys): SavedKeyring {
  return { stored: [...stored.values()], valid: [...valid.values()] }
}

function byKey(keys: readonly ApiKey[]): Map<string, ApiKey> {
  return new Map(keys.map((apiKey) => [apiKey.key, apiKey]))
}

/** Limits of a plan; for "custom", the sandbox's own choice. @source docs/specification.md, "Rate limits by plan" */
export function planLimits({ plans }: Contract, plan: PlanName): Limits {
  const { perMinute = CUSTOM_LIMITS.perMinute, perDay = CUSTOM_LIMITS.perDay } = plans[plan]
  return { perMinute, perDay }
}

interface PlanFacts {
  readonly settings: Settings
  /** Of keys that were moved to another plan. */
  readonly plans: ReadonlyMap<string, PlanName>
}

/** The plan of the key `sandbox` is a setting. */
export function currentPlan(apiKey: ApiKey, { settings, plans }: PlanFacts): PlanName {
  return apiKey.key === DEFAULT_KEY ? settings.plan : (plans.get(apiKey.key) ?? startPlan(apiKey))
}

export function currentLimits(contract: Contract, apiKey: ApiKey, facts: PlanFacts): Limits {
  const limits = planLimits(contract, currentPlan(apiKey, facts))
  return apiKey.key === DEFAULT_KEY ? { ...limits, ...facts.settings.limits } : limits
}
