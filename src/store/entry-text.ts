import { stringifyJson } from '../contract/json.js'
import type { ApiKey } from '../domain/keys.js'
import type { Pet } from '../domain/pets.js'

/** A pet as it stands in the store's files. Put together by hand: it is written on the way to every 201. */
export function petText({ id, name, categoryId, status }: Pet): string {
  const rest = status === undefined ? '' : `,"status":"${status}"`
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${rest}}`
}

/** A key as it stands in the store's files. */
export function keyText({ key, plan, always }: ApiKey): string {
  return stringifyJson({ key, plan, always })
}
