import { stringifyJson } from '../contract/json.js'
import type { StormView } from './views.js'

/** `30 % of requests get 429 for 30s, Retry-After 2s`. */
export function stormText({ rate, for: length, every, retryAfter }: StormView): string {
  const part = (name: string, duration: string | null) => (duration === null ? '' : ` ${name} ${duration}`)
  const which = rate === 1 ? 'all requests get 429' : `${Number((rate * 100).toFixed(2))} % of requests get 429`
  return `${which}${part('for', length)}${part('every', every)}${retryAfter === null ? '' : `, Retry-After ${retryAfter}`}`
}

/** `plan=pro latency=none`. */
export function valuesText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ')
}

function valueText(value: unknown): string {
  if (value === null) return 'none'
  return typeof value === 'string' ? value : (stringifyJson(value) ?? '')
}
