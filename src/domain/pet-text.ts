import { stringifyJson } from '../contract/json.js'
import { PET_STATUSES, type Pet } from './pets.js'

/**
 * A pet as JSON, its fields in the contract's order. Concatenated by hand where it is what the packaged
 * contract calls one, because every 201 needs it.
 */
export function petText(pet: Pet): string {
  if (pet === lastPet) return lastText
  lastText = textOf(pet)
  lastPet = pet
  return lastText
}

/** A pet that is added is wanted as text three times: to be measured or written down, and to be answered. */
let lastPet: Pet | undefined
let lastText = ''

function textOf(pet: Pet): string {
  if (!isPlain(pet)) return stringifyJson(pet)
  const { id, name, categoryId, status } = pet
  const rest = status === undefined ? '' : `,"status":"${status}"`
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${rest}}`
}

/** Whether it has the fields of the packaged contract and no others. */
function isPlain(pet: Pet): boolean {
  const { name, categoryId, status } = pet
  if (typeof name !== 'string' || (typeof categoryId !== 'number' && typeof categoryId !== 'bigint')) return false
  if (status !== undefined && !PET_STATUSES.includes(status)) return false
  let fields = 0
  for (const _ in pet) fields++
  return fields === (status === undefined ? 3 : 4)
}
