import { RESERVED_PATH } from '../contract/base-path.js'
import type { Contract } from '../contract/contract.js'
import { Failure } from '../domain/failures.js'
import { type ApiKey, DEFAULT_KEY, keyLabel } from '../domain/keys.js'
import { planProblem } from '../domain/plans.js'
import { slowedOperations } from '../domain/settings.js'
import { unknownOperation } from '../domain/suggest.js'
import { clockStartProblem } from '../domain/time.js'
import { OptionsError } from '../options/options.js'
import { locateOption, type ResolvedOptions } from '../options/resolve.js'
import { hexOf } from '../system/hex.js'
import { digestOf } from '../system/runtime.js'

/** @throws Failure UNKNOWN_OPERATION for an option with an operation that is not in the contract */
export function checkOperations(options: ResolvedOptions, contract: Contract): void {
  const known = contract.operations.map(({ id }) => id)
  const check = (operation: string, index: number, name: 'mock' | 'fault' | 'latency', allowed: readonly string[]) => {
    if (allowed.includes(operation)) return
    const where = locateOption(options, name, index)
    throw new Failure('UNKNOWN_OPERATION', `${where}: ${unknownOperation(operation, known)}`)
  }
  for (const [index, operation] of options.mock.entries()) check(operation, index, 'mock', known)
  for (const [index, { operation }] of options.start.faults.entries()) check(operation, index, 'fault', ['*', ...known])
  const problem = clockStartProblem(options.start.now, contract)
  if (problem !== undefined) throw new Failure('UNKNOWN_OPERATION', problem)
  for (const operation of slowedOperations(options.start.settings)) check(operation, 0, 'latency', ['*', ...known])
}

/** @throws OptionsError for a plan that the contract does not have */
export function checkPlans(options: ResolvedOptions, contract: Contract): void {
  const check = (plan: string | undefined, name: 'plan' | 'apiKey', index: number) => {
    const problem = planProblem(contract, plan)
    if (problem !== undefined) throw new OptionsError([`${locateOption(options, name, index)}: ${problem}`])
  }
  check(options.start.settings.plan, 'plan', 0)
  for (const [index, { plan }] of options.apiKeys.entries()) check(plan, 'apiKey', index)
}

/** Operations whose path the sandbox takes itself. */
export function unreachableNotes(basePath: string, { operations }: Contract): readonly string[] {
  return operations.flatMap(({ id, path }) =>
    RESERVED_PATH.test(basePath + path)
      ? [`No request reaches ${id}: the sandbox has ${basePath + path} itself. Use --base-path.`]
      : [],
  )
}

/** Refuses a scenario with keys that do not exist or are never banned: it would silently have no effect. */
export function checkKeys({ start }: Pick<ResolvedOptions, 'start'>, keys: readonly ApiKey[]): void {
  for (const name of [...Object.keys(start.used), ...Object.keys(start.bans)]) {
    const named = keys.find((apiKey) => apiKey.key === name || keyLabel(apiKey) === name)
    if (named === undefined)
      throw new Failure(
        'UNKNOWN_KEY',
        `The scenario names the key "${name}", which does not exist. Use one of ${keys.map(keyLabel).join(', ')}.`,
      )
    if (named.always === 'limited' && Object.hasOwn(start.bans, name))
      throw new Failure('UNKNOWN_KEY', `The scenario bans the key "${name}", which is never banned. Ban another key.`)
  }
}

/** Used in logs and reports in place of a key. */
const RESERVED_LABELS: readonly string[] = ['none', 'unknown', 'others']

const LABEL_DIGITS = 8

/**
 * Labels each key given at the start, which may be a real one and must not be shown or written. Keys of fixtures and
 * store are not secret.
 * @throws Failure LABEL_TAKEN for an ambiguous label
 */
export function labelKeys(apiKeys: readonly ApiKey[], seeded: readonly ApiKey[]): readonly ApiKey[] {
  const shown = new Set([DEFAULT_KEY, ...seeded.map(({ key }) => key)])
  const all = apiKeys.map((apiKey) =>
    apiKey.label !== undefined || shown.has(apiKey.key)
      ? apiKey
      : { ...apiKey, label: `key-${hexOf(digestOf(apiKey.key)).slice(0, LABEL_DIGITS)}` },
  )
  for (const { key, label } of all) {
    if (label === undefined) continue
    const isTaken = shown.has(label) || RESERVED_LABELS.includes(label)
    if (!isTaken && !all.some((other) => other.key !== key && (other.key === label || other.label === label))) continue
    throw new Failure('LABEL_TAKEN', `The label "${label}" of an API key is already in use. Choose another label.`)
  }
  return all
}
