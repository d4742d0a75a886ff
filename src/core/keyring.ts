import type { Contract } from '../contract/contract.js'
import { type ApiKey, DEFAULT_KEY, keyLabel } from '../domain/keys.js'
import { planLimits, startPlan } from '../domain/plans.js'
import type { Limits } from '../domain/quota.js'
import type { Settings } from '../domain/settings.js'

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

  /** By label, or by text. */
  find(name: string): ApiKey | undefined {
    return this.valid.get(name) ?? [...this.valid.values()].find((apiKey) => keyLabel(apiKey) === name)
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
}

export function byKey(keys: readonly ApiKey[]): Map<string, ApiKey> {
  return new Map(keys.map((apiKey) => [apiKey.key, apiKey]))
}

interface PlanFacts {
  readonly settings: Settings
  /** Of keys that were moved to another plan. */
  readonly plans: ReadonlyMap<string, string>
}

/** The plan of the key `sandbox` is a setting. Undefined without quotas. */
export function currentPlan(contract: Contract, apiKey: ApiKey, { settings, plans }: PlanFacts): string | undefined {
  const { key, plan } = apiKey
  const wanted = key === DEFAULT_KEY ? settings.plan : (plans.get(key) ?? plan)
  return startPlan(contract, wanted === undefined ? { key } : { key, plan: wanted })
}

/** @param apiKey undefined for a request without a valid one, which has the default plan */
export function currentLimits(contract: Contract, apiKey: ApiKey | undefined, facts: PlanFacts): Limits {
  const plan = apiKey === undefined ? contract.defaultPlan : currentPlan(contract, apiKey, facts)
  const limits = planLimits(contract, plan)
  return plan === undefined || apiKey?.key === DEFAULT_KEY ? { ...limits, ...facts.settings.limits } : limits
}
