import { type ApiKey, DEFAULT_KEY, KEY_CONDITIONS } from './keys.js'
import { type PlanData, planNames } from './plans.js'

/** Keys of the packaged contract that other contracts without plans accept, so that a client keeps its key. */
const KEYS_WITHOUT_PLANS = ['free', 'pro', 'business', 'enterprise']

/** Whether a key is one of these. Lists leave it out until a client has used it. */
export function isStandInKey({ plans }: PlanData, { key }: ApiKey): boolean {
  return Object.keys(plans).length === 0 && KEYS_WITHOUT_PLANS.some((name) => key === `${DEFAULT_KEY}-${name}`)
}

/** The keys of a contract without fixtures of its own. @source docs/behaviour.md, "Keys" */
export function defaultKeys(contract: PlanData): readonly ApiKey[] {
  const names = planNames(contract)
  const failing = KEY_CONDITIONS.map((always) => ({ key: `${DEFAULT_KEY}-${always}`, always }))
  const others =
    names.length === 0
      ? KEYS_WITHOUT_PLANS.map((name) => ({ key: `${DEFAULT_KEY}-${name}` }))
      : names.map((plan) => ({ key: `${DEFAULT_KEY}-${plan}`, plan }))
  return [{ key: DEFAULT_KEY }, ...others, ...failing]
}
