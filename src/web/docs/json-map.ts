/** A JSON object of which nothing is known yet. */
export type JsonMap = Record<string, unknown>

export function isMap(value: unknown): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
