import type { KeyView, StateView } from '../../control/views.js'
import { childOf, elementOf } from './element-of.js'

/** Offers the sandbox's keys, as far as it tells them: a plan or a misfortune each. The first one is chosen. */
export function offerKeys({ space, keys: all }: StateView, use: (key: string) => void): void {
  const keys = all.filter(({ secret }) => !secret)
  const label = elementOf('key')
  const select = childOf(label, 'select')
  select.replaceChildren(...keys.map((key) => new Option(describeKey(key), keyInSpace(key.key, space))))
  select.addEventListener('change', () => use(select.value))
  label.hidden = keys.length === 0
  if (keys.length > 0) use(select.value)
}

/** Shows which key is used, also one that was entered in the Authorize dialog; none if undefined. */
export function showKey(key: string | undefined): void {
  const select = childOf(elementOf('key'), 'select')
  const isOffered = key === undefined || [...select.options].some(({ value }) => value === key)
  if (!isOffered) select.add(new Option(key))
  select.value = key ?? ''
}

function describeKey({ key, plan, always }: KeyView): string {
  return `${key} (${always === null ? plan : `always ${always}`})`
}

function keyInSpace(key: string, space: string): string {
  return space === '' ? key : `${key}~${space}`
}
