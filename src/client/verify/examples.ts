import type { Contract, Operation } from '../../contract/contract.js'
import { parseJson } from '../../contract/json.js'

/** One request that the contract gives as an example. */
export interface Example {
  readonly name: string
  /** Values of path and query parameters by their name. */
  readonly values: ReadonlyMap<string, unknown>
}

type Node = Readonly<Record<string, unknown>>

/**
 * Reads the requests that the contract's named examples add up to: values with the same
 * example name belong together.
 */
export async function readExamples(contract: Contract): Promise<(operation: Operation) => readonly Example[]> {
  const document: unknown = parseJson(await contract.text('json'))
  return (operation) => {
    const item = at(document, 'paths', operation.path)
    const parameters = [item, at(item, operation.method.toLowerCase())].flatMap((holder) =>
      list(at(holder, 'parameters')),
    )
    const examples = new Map<string, Map<string, unknown>>()
    const inPath = new Map<string, unknown>()
    for (const parameter of parameters.map((one) => followed(document, one))) {
      const name = String(at(parameter, 'name'))
      for (const [title, example] of Object.entries(nodeOf(at(parameter, 'examples')))) {
        const value = at(followed(document, example), 'value')
        if (at(parameter, 'in') === 'path') inPath.set(name, inPath.get(name) ?? value)
        const values = examples.get(title) ?? new Map<string, unknown>()
        examples.set(title, values.set(name, value))
      }
    }
    if (examples.size === 0) return [{ name: 'the request', values: new Map() }]
    // Without its path an example is no request.
    return [...examples].map(([name, values]) => ({ name, values: new Map([...inPath, ...values]) }))
  }
}

function followed(document: unknown, value: unknown): unknown {
  const reference = at(value, '$ref')
  if (typeof reference !== 'string') return value
  return at(
    document,
    ...reference
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
  )
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let found = value
  for (const step of path) found = Object.hasOwn(nodeOf(found), step) ? nodeOf(found)[step] : undefined
  return found
}

function nodeOf(value: unknown): Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : {}
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
