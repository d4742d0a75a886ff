import { stringifyJson } from '../contract/json.js'
import type { ApiKey } from '../domain/keys.js'

/** A key as written in the store's files. */
export function keyText({ key, plan, always }: ApiKey): string {
  return stringifyJson({ key, plan, always })
}
