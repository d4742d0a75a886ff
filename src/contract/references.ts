import { type Node, Place } from './document.js'

/** What these words hold is somebody's data; a "$ref" in it is only a name. */
const DATA = new Set(['const', 'default', 'enum', 'example', 'value'])
/** What is in these has names of the user's choice. */
const NAMED = new Set(['dependentSchemas', 'headers', 'parameters', 'patternProperties', 'properties', 'schemas'])

/**
 * Refuses a document that refers to others, wherever it does. Whoever follows such a
 * reference would read files and addresses that the user did not name.
 *
 * @throws SpecError naming the first one
 */
export function refuseForeignReferences(root: Place): void {
  const seen = new Set<unknown>()
  const look = (value: unknown, name: string, named: boolean): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    if (Array.isArray(value)) {
      value.forEach((item, index) => {
        look(item, `${name}[${index}]`, false)
      })
      return
    }
    const node: Node = { ...value }
    if (!named && typeof node.$ref === 'string') new Place({}, value, name).refuseForeign(node.$ref)
    for (const [key, child] of Object.entries(node)) {
      if (named || !DATA.has(key)) look(child, name === '' ? key : `${name}.${key}`, !named && NAMED.has(key))
    }
  }
  look(root.value, '', false)
}
