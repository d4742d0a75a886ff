import { Place } from './document.js'

/**
 * Refuses a document that refers to others anywhere, even in an example.
 * Following such a reference would read files and addresses that the user did
 * not name, and Prism follows all of them.
 *
 * @throws SpecError naming the first one
 */
export function refuseForeignReferences(root: Place): void {
  const seen = new Set<unknown>()
  const look = (value: unknown, name: string): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    seen.add(value)
    const reference: unknown = Reflect.get(value, '$ref')
    if (typeof reference === 'string') new Place(root.document, value, name).refuseForeign(reference)
    for (const [key, child] of Object.entries(value)) {
      look(child, Array.isArray(value) ? `${name}[${key}]` : name === '' ? key : `${name}.${key}`)
    }
  }
  look(root.value, '')
}
