import type { Pet } from './pets.js'

/** A pet as JSON, its fields in the contract's order. Concatenated by hand, because every 201 needs it. */
export function petText({ id, name, categoryId, status }: Pet): string {
  const rest = status === undefined ? '' : `,"status":"${status}"`
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId}${rest}}`
}
