import type { Document, Node } from 'yaml'
import { excerpt } from './excerpt.js'

/**
 * Finds a name that a map of a YAML document has twice. The library compares each
 * with all before it, which takes minutes for a map of 100,000: it is told
 * `uniqueKeys: false`, and this does it.
 *
 * @returns where the second one begins
 */
export function findRepeatedKey(yaml: Pick<typeof import('yaml'), 'visit' | 'isScalar'>, document: Document | Node) {
  let offset: number | undefined
  yaml.visit(document, {
    Map(_place, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        // A map may merge others into itself (<<) more than once.
        if (!yaml.isScalar(key) || key.value === '<<') continue
        if (seen.has(key.value)) {
          offset = key.range?.[0] ?? 0
          return yaml.visit.BREAK
        }
        seen.add(key.value)
      }
      return undefined
    },
  })
  return offset
}

/** What is wrong with a text, as its parser says it; that it ran out of stack is said as what it means. */
export function yamlMistake(message: string): string {
  return message.includes('call stack') ? 'it is nested too deeply' : excerpt(message)
}
