/**
 * Whether a value has more levels of lists and objects than so many. Without
 * recursion: how deep a text is nested is its writer's choice. What refers to
 * itself is nested without end.
 */
export function isNestedDeeper(root: unknown, levels: number): boolean {
  let level: object[] = isContainer(root) ? [root] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= levels) return true
    // What stands in several places is looked at once for each level.
    level = [...new Set(level.flatMap((container) => Object.values(container).filter(isContainer)))]
  }
  return false
}

/** Whether a value, which must not refer to itself, has more characters than so many, roughly, as JSON. */
export function isLonger(root: unknown, characters: number): boolean {
  let length = 0
  const open: unknown[] = [root]
  while (open.length > 0 && length <= characters) {
    const value = open.pop()
    length += typeof value === 'string' ? value.length + 2 : 4
    if (!isContainer(value)) continue
    for (const [name, child] of Object.entries(value)) {
      length += name.length
      open.push(child)
    }
  }
  return length > characters
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
