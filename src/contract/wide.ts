/** Schemas within one, without those that references lead to; compiling more takes a tenth of a second. */
const MAX_LAZY_SIZE = 300

/** Whether compiling a schema takes too long for a request to wait for. */
export function isWide(schema: unknown): boolean {
  let size = 0
  // Without recursion: contracts nest deeply.
  const open = [schema]
  for (let next = open.pop(); next !== undefined && size <= MAX_LAZY_SIZE; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    if (!Array.isArray(next)) size++
    for (const [key, inner] of Object.entries(next)) if (key !== '$defs') open.push(inner ?? null)
  }
  return size > MAX_LAZY_SIZE
}
