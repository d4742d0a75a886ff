import type { RecordRules, Values } from '../contract/contract.js'
import type { ContractData } from '../contract/contract-data.js'
import { type Node, operationPlace, type Place, rootPlace } from '../contract/document.js'
import { toJsonSchema } from '../contract/json-schema.js'
import { type ResourceAction, type View, viewed } from '../contract/resource-data.js'
import { readRecordFields } from '../contract/schema-fields.js'
import type { Validator } from '../contract/validator.js'
import { validatorMaker } from '../contract/validator-maker.js'
import { findViolations } from '../contract/validators.js'
import { bodyContent, success } from './operations.js'

/**
 * What the documented responses of a contract given with --spec allow records to be, by resource.
 *
 * @param mocked operations of Prism, which do not count
 */
export async function readRecordRules(
  document: Node,
  data: ContractData,
  hasWide: boolean,
  mocked: readonly string[] = [],
): Promise<ReadonlyMap<string, RecordRules>> {
  const compile = await validatorMaker('linear', { hasWide })
  return new Map(
    Array.from(readRecordPlaces(document, data, mocked), ([name, places]): [string, RecordRules] => {
      const own = places.map(({ place, view }) => ({ view, validator: compile(() => toJsonSchema(place, RESPONSE)) }))
      const { place } = places.find(({ view }) => view === undefined) ?? places[0] ?? {}
      const record = place ?? (places.length === 0 ? sentRecord(document, data, name) : undefined)
      return [name, { record, findViolations: (value) => violationsOf(own, value) }]
    }),
  )
}

/** Without a response that describes it, a record is what a request creates. */
function sentRecord(document: Node, { operations }: ContractData, resource: string): Place | undefined {
  const create = operations.find(({ action }) => action?.resource === resource && action.kind === 'create')
  const schema = create && bodyContent(operationPlace(rootPlace(document), create) as Place)?.child('schema')
  return create?.action?.bodyEnvelope === undefined ? schema : undefined
}

export const RESPONSE = { of: 'response' } as const

/** The schemas of responses that have a record, each once, by resource. */
export function readRecordPlaces(
  document: Node,
  { operations, resources }: ContractData,
  mocked: readonly string[] = [],
): ReadonlyMap<string, readonly RecordPlace[]> {
  const root = rootPlace(document)
  const records = new Map(resources.map(({ name }) => [name, new Map<Place['value'], RecordPlace>()]))
  for (const operation of operations) {
    const { id, action } = operation
    const place = action === undefined || mocked.includes(id) ? undefined : operationPlace(root, operation)
    const record = action && place && recordPlace(place, action)
    if (record === undefined || action?.view?.isId !== undefined) continue
    records.get(action?.resource ?? '')?.set(record.value, { place: record, view: action?.view })
  }
  return new Map(Array.from(records, ([name, places]) => [name, [...places.values()]]))
}

interface RecordPlace {
  readonly place: Place
  readonly view: View | undefined
}

interface ResponseRecord {
  readonly validator: Validator
  readonly view: View | undefined
}

function violationsOf(validators: readonly ResponseRecord[], record: object): readonly string[] {
  const violations = validators.flatMap(({ validator, view }) =>
    findViolations(validator, view === undefined ? record : viewed(record as Values, view), 'body'),
  )
  return [...new Set(violations.map(({ message }) => message))]
}

/** The schema of a record in an operation's success; undefined if no body is documented. */
export function recordPlace(operation: Place, action: ResourceAction): Place | undefined {
  const { kind, outer, envelope, isListed, isNotice } = action
  const body = kind === 'remove' || isNotice || 'literal' in action ? undefined : success(operation)?.schema
  const inside = (place: Place | undefined, name: string | undefined) =>
    place && name !== undefined ? readRecordFields(place).get(name)?.place : place
  const wrapped = inside(inside(body, outer), envelope)
  return kind === 'list' || isListed ? wrapped?.child('items') : wrapped
}
