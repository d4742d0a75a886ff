import { countedValue } from '../contract/counted-value.js'
import type { Place } from '../contract/document.js'
import { exampleValue, fits } from '../contract/example-value.js'
import { type Fill, type IdData, type IdFill, idOfForm } from '../contract/resource-data.js'
import { allowsNull, type RecordField } from '../contract/schema-fields.js'

// What the sandbox makes so that it differs for each record: ids, and numbers such as INV-2026-0001.

const SAMPLE_UUID = '3be6453c-03eb-8357-ae5a-984a0e574a54'

const OTHER_UUID = 'c2c5e3a4-1f0b-8d6e-b7a1-5d0f9c3e2b18'

export function sampleId({ kind, pattern }: IdData): unknown {
  return kind === 'integer' ? 1 : pattern === undefined ? SAMPLE_UUID : idOfForm(pattern, SAMPLE_UUID)
}

/** The form of new ids, undefined for UUIDs; or why the sandbox cannot make one. */
export function idForm(schemas: readonly Place[]): { readonly pattern: string } | string | undefined {
  // A path parameter may be an integer that the record has as a text.
  const areFit = (id: string) =>
    schemas.every((schema) => fits(id, schema) || (/^\d+$/.test(id) && fits(BigInt(id), schema)))
  if (areFit(SAMPLE_UUID)) return undefined
  const patterns = schemas.flatMap((schema) => schema.string('pattern') ?? [])
  const prefixes = patterns.map((pattern) => /^\^([A-Za-z]+[_-])/.exec(pattern)?.[1] ?? '')
  const lengths = schemas.flatMap(({ value }) => [Object(value).minLength, Object(value).maxLength])
  const forms = [...[32, 24, ...lengths].map((length) => `[0-9a-f]{${length}}`), '[1-9]\\d{17}', '[1-9]\\d{8}']
  const usual = [...prefixes, ''].flatMap((prefix) => forms.map((form) => `^${prefix}${form}$`))
  const found = [...usual, ...patterns].find((pattern) => {
    const [one, other] = [SAMPLE_UUID, OTHER_UUID].map((uuid) => idOfForm(pattern, uuid))
    return one !== undefined && other !== undefined && one !== other && areFit(one) && areFit(other)
  })
  return found !== undefined
    ? { pattern: found }
    : `no id of the sandbox matches the schema of the record's id: ${patterns[0] ?? 'no pattern'}`
}

/** Of an id that is not in the path, such as `id` of `/users/{username}`, or of the rows in a record. */
export function idFill({ type, choices, places }: RecordField): IdFill | undefined {
  if (choices !== undefined) return undefined
  if (type === 'integer' || type === 'number')
    return places.every((place) => fits(1, place)) ? { kind: 'id', isCounted: true } : undefined
  const form = type === 'string' ? idForm(places) : ''
  return typeof form === 'string' ? undefined : { kind: 'id', isCounted: false, ...form }
}

/** `number`, `invoice_no`, `orderReference`. */
const NUMBERED =
  /^(?:number|no|nr|code|reference|ref|serial|sku|slug)$|_(?:number|no|nr|reference|ref|serial|sku|slug)$|[a-z](?:Number|No|Nr|Reference|Ref|Serial|Sku|Slug)$/
/** `INV-0001`; not `1.0.0`, or a date. */
const NUMBERED_TEXT = /^(?!\d{4}-\d\d-\d\d|\d+[.,:]\d)(?:.*\D)?\d{3,}$/
/** One for all records. */
const SHARED = /phone|fax|account|version|page|status|error|country|currency|language/i

/** A record counted in thousands. */
const LATER = 2000

/** Of what only the service sets, and has another value in each record. */
export function countFill(name: string, field: RecordField): Fill | undefined {
  const { type, format, choices, places, default: usual, required, readOnly, isUnique } = field
  const isPlain = usual === undefined && choices === undefined && !places.some(allowsNull)
  if (!isPlain || !(format === undefined || /^int\d+$/.test(format))) return undefined
  const examples = places.flatMap(({ value }) => [Object(value).example, ...[Object(value).examples ?? []].flat()])
  const given = examples.find((item) => item !== undefined && places.every((place) => fits(item, place)))
  if (!required && !readOnly && given === undefined) return undefined
  const isNamed = isUnique || (NUMBERED.test(name) && !SHARED.test(name))
  const isText = type === 'string' && (isNamed || NUMBERED_TEXT.test(String(given)))
  if (!isText && !(type === 'integer' && isNamed)) return undefined
  const made = places.map((place) => exampleValue(place)).find((value) => value !== '' && value !== 0)
  const first = given ?? made ?? (isText ? `${name}-1` : 1)
  const isFit = (own: number) => places.every((place) => fits(countedValue(first, own), place))
  return isFit(1) && isFit(LATER) ? { kind: 'count', first } : undefined
}
