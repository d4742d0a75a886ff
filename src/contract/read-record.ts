import type { Contract, Reading, Values } from './contract.js'
import { stringifyJson } from './json.js'
import type { ResourceData } from './resource-data.js'

/** Reads a record like the body of the contract's create operation, else of its replace or merge operation. */
export function recordReader(
  { operations }: Pick<Contract, 'operations'>,
  { name }: ResourceData,
): ((record: Values) => Pick<Reading<Values>, 'violations' | 'unknown'>) | undefined {
  const [operation] = ['create', 'replace', 'merge'].flatMap((kind) =>
    operations.filter(({ action, takesBody }) => action?.resource === name && action.kind === kind && takesBody),
  )
  if (operation === undefined) return undefined
  const envelope = operation.action?.bodyEnvelope
  const bare = (text: string) => (text.startsWith(`${envelope}.`) ? text.slice(`${envelope}.`.length) : text)
  return (record) => {
    const body = envelope === undefined ? record : { [envelope]: record }
    const { violations, unknown } = operation.readBody(new TextEncoder().encode(stringifyJson(body)))
    return {
      violations: violations.map((one) => ({ ...one, name: bare(one.name), message: bare(one.message) })),
      unknown: unknown.map(bare),
    }
  }
}
