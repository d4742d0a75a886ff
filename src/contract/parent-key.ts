import { isOwnId, plainName } from './names.js'
import type { ResourceData } from './resource-data.js'

/**
 * The property of a record that a parameter below it has in place of its id: `id` of `/users/{userId}/roles` beside
 * `/users/{username}`.
 */
export function parentKey(parameter: string, { id, properties, path }: ResourceData): string | undefined {
  const names = Object.keys(properties)
  const wanted = isOwnId(parameter, path) ? [parameter, 'id'] : [parameter]
  const [found] = wanted.flatMap((one) => names.find((name) => plainName(name) === plainName(one)) ?? [])
  return found === id.property ? undefined : found
}
