import type { Values } from '../contract/contract.js'
import { isNode, ownValue } from '../contract/json.js'
import { fillValue, type Shape } from '../contract/resource-data.js'
import { type NewId, shapedValue } from '../contract/shaped-value.js'
import type { ActionRequest } from './action-request.js'
import { newRowIds } from './new-ids.js'
import type { Space } from './space.js'

/**
 * The record after PUT (in place of what there is) or PATCH (merged into it): read-only properties stay, timestamps move.
 *
 * @param base what stays of it: all in a merge
 */
export function changedRecord(
  request: ActionRequest,
  known: Values,
  base: Values,
  space: Space,
): Record<string, unknown> {
  const { resource, body, now } = request
  let rowIds: NewId | undefined
  const shaped = (sent: unknown, shape: Shape | undefined) => {
    if (shape === undefined) return sent
    rowIds ??= newRowIds(space, resource, known[resource.id.property], [known, body])
    return shapedValue(sent, shape, rowIds)
  }
  const value: Record<string, unknown> = { [resource.id.property]: known[resource.id.property] }
  const isWhole = base !== known
  // Null is a value of the record here, and removes one in a merge.
  const patched = isWhole ? { ...base, ...body } : (mergePatch(base, body) as Values)
  const declared = Object.keys(resource.properties)
  const sent = declared.length === 0 || resource.isOpen ? Object.keys(patched) : []
  const names = new Set([...declared, ...Object.keys(known), ...sent])
  for (const name of names) {
    const property = resource.properties[name]
    if (name === resource.id.property || name === '__proto__') continue
    const isOurs =
      property?.readOnly === true ||
      resource.id.parts?.includes(name) ||
      /^(created-at|id)$/.test(property?.fill?.kind ?? '')
    let next =
      property?.fill?.kind === 'updated-at'
        ? fillValue(property.fill, now)
        : isOurs
          ? known[name]
          : shaped(ownValue(patched, name), property?.shape)
    const isFilled = property?.required === true || isWhole
    const isPatched = next === undefined && !isWhole
    // A null in a patch keeps a property that each record must have.
    if (isPatched) next = property?.isNullable ? null : property?.required ? known[name] : undefined
    const fill = next === undefined && isFilled ? property?.fill : undefined
    if (fill !== undefined) next = ('isMadeUp' in fill ? known[name] : undefined) ?? fillValue(fill, now)
    if (next === undefined && property?.required === true) next = known[name]
    if (next !== undefined) value[name] = next
  }
  return value
}

/** @source RFC 7396, section 2 */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isNode(patch)) return patch
  const result = new Map(isNode(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch))
    if (value === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), value))
  return Object.fromEntries(result)
}
