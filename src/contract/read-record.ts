import type { Contract, Reading, Values, Violation } from './contract.js'
import { stringifyJson } from './json.js'
import type { ResourceData } from './resource-data.js'

/** The part of a violation's place that is a field of the record. */
export function fieldOf({ name }: Violation): string {
  return /^[^.[]*/.exec(name)?.[0] ?? name
}

/**
 * Whether a violation of the create request is one of a whole record: not a password that is missing, since no record
 * has one, nor a value that only responses have, which the rules of the record check.
 */
export function isOfRecord(
  violation: Violation,
  record: Values,
  { name, properties }: ResourceData,
  { rules }: Pick<Contract, 'rules'>,
): boolean {
  const field = fieldOf(violation)
  const isCheckedLater = rules?.get(name)?.record !== undefined
  return !isCheckedLater || Object.hasOwn(record, field) !== Object.hasOwn(properties, field)
}

interface RecordReader {
  read(record: Values): Pick<Reading<Values>, 'violations' | 'unknown'>
  /** Faster than `read`. */
  check(record: Values): readonly Violation[]
}

/** Reads a record like the body of the contract's create operation, else of its replace or merge operation. */
export function recordReader(
  { operations }: Pick<Contract, 'operations'>,
  { name }: ResourceData,
): RecordReader | undefined {
  const [operation] = ['create', 'replace', 'merge'].flatMap((kind) =>
    operations.filter(({ action, takesBody }) => action?.resource === name && action.kind === kind && takesBody),
  )
  if (operation === undefined) return undefined
  const { bodyEnvelope: envelope, isBodyListed } = operation.action ?? {}
  const wrap = (record: Values) => {
    if (envelope === undefined) return record
    const held = isBodyListed ? [record] : record
    return envelope === '' ? (held as Values) : { [envelope]: held }
  }
  const bare = (text: string) => (text.startsWith(`${envelope}.`) ? text.slice(`${envelope}.`.length) : text)
  const unwrap = (violations: readonly Violation[]) =>
    violations.map((violation) => ({ ...violation, name: bare(violation.name), message: bare(violation.message) }))
  return {
    read(record) {
      const { violations, unknown } = operation.readBody(new TextEncoder().encode(stringifyJson(wrap(record))))
      return { violations: unwrap(violations), unknown: unknown.map(bare) }
    },
    check: (record) => unwrap(operation.checkBody(wrap(record))),
  }
}
