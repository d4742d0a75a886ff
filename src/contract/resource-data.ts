import { countedValue } from './counted-value.js'
import type { Node } from './json.js'
import { patternText } from './pattern-text.js'

/** A kind of record that the contract describes well enough for the sandbox to keep it. Plain data. */
export interface ResourceData {
  /** The shortest end of the path's segments without parameters that no other resource has: `pets`, `owners/pets`. */
  readonly name: string
  /** The collection's path template: `/owners/{ownerId}/pets`. */
  readonly path: string
  /** One for each path parameter of the collection, outermost first. */
  readonly parents: readonly ParentData[]
  readonly id: IdData
  /** The path of a record, if it is not that of the resource with `/{id}`: `/parts/{id}/`. */
  readonly item?: string
  /** What in the contract says so, for people. */
  readonly because: { readonly record: string; readonly id: string }
  /** The collection has one record: `/settings`. It is there from the start, unless the contract documents a 404 for it. */
  readonly single?: { readonly initial?: Readonly<Record<string, unknown>> }
  /** Properties of a record by name; empty if the schema declares none, and a record may then have any. */
  readonly properties: Readonly<Record<string, PropertyData>>
  /** The names of the attributes of JSON:API, if they are declared: lists are sorted by no others. */
  readonly attributes?: readonly string[]
  /** Paths of write-only properties, which no response has; those of lists are in each item. */
  readonly hidden?: readonly (readonly string[])[]
  /** Properties that show the record of another resource, or a list of them; under no name, the record itself does. */
  readonly links?: Readonly<Record<string, LinkData>>
  /** Resources that have the same record if its id is the same: `/users/me` and `/users`. */
  readonly twins?: readonly LinkData[]
  /** The resources to whose records properties refer, where the operation that creates documents a 404 for it. */
  readonly references?: Readonly<Record<string, string>>
  /** Names in requests of properties that records have under another: `ownerId` of the object `owner`. */
  readonly aliases?: Readonly<Record<string, string>>
  /** The property with the address of a record, without which no client would learn its id. */
  readonly address?: AddressData
  /** The property with the entity tag of a record. */
  readonly tag?: string
  /** Records may have properties that are not declared. */
  readonly isOpen?: true
  /** Properties whose values may not occur twice (`x-unique: true`). */
  readonly unique: readonly string[]
  /** No operation creates its records: they are listed in the order given. */
  readonly isFixed?: true
  /** The records that it starts with without fixtures: the example of the list, or one made for its schema. */
  readonly examples?: readonly Readonly<Record<string, unknown>>[]
  readonly isMadeUp?: true
}

export interface LinkData {
  readonly resource: string
  /** Its property that has the id. */
  readonly key: string
  /** The properties that it has in common with the records of the resource. */
  readonly only: readonly string[]
}

export interface AddressData {
  readonly property: string
  /** As a text, as `{ self: { href } }` of HAL, or as `[{ rel: 'self', href }]`. */
  readonly form: 'text' | 'hal' | 'list'
}

/** The field of a store that is not a resource. */
export const RESERVED_NAME = '$sandbox'

export interface ParentData {
  readonly parameter: string
  /** The resource that the parameter identifies. Undefined if the contract has no such resource: any value will do. */
  readonly resource?: string
  /** The record's own property that holds the parent's id, if it has one. */
  readonly property?: string
  /** Its type, if the parameter has another one. */
  readonly type?: 'integer' | 'string'
  /** What files and the control plane call the parent's id: that property, or a field beside the record's own. */
  readonly field: string
  /** The parent's ids are integers, so that the field has one too. */
  readonly isInteger?: true
  /** Of the parent's id. */
  readonly template?: string
}

/** The field of a parent whose other names are taken. @param index of the parent, outermost first */
export function parentField(index: number): string {
  return index === 0 ? '$parent' : `$parent${index + 1}`
}

export interface IdData {
  readonly property: string
  /** The sandbox counts or draws a UUID; or the client sends it in the body. */
  readonly kind: 'integer' | 'uuid' | 'from-client'
  /** An integer or a UUID that the client sends: the sandbox counts or draws one only where it is missing. */
  readonly isSent?: true
  /** If the contract does not allow a UUID: the pattern of the texts made of them. */
  readonly pattern?: string
  /** The id is the record's path, such as `shelves/{shelf}/books/{book}`, and the path parameters are parts of it. */
  readonly template?: string
  /** The schema of the record does not have it. */
  readonly isUnseen?: true
  /** The properties that together identify it, of which the id is made. */
  readonly parts?: readonly string[]
}

/** The id of the record that path parameters name; of the outer ones, the last are used. */
export function idFromPath(template: string | undefined, values: readonly unknown[]): unknown {
  if (template === undefined) return values.at(-1)
  const names = template.match(/\{/g)?.length ?? 0
  let at = values.length - names
  return template.replace(/\{[^{}]*\}/g, () => idInPath({ template }, values[at++]))
}

/** The ids in path parameters that hold a whole path: `shelves/1` of the template `shelves/{shelves}`. */
export function readNames(values: Node, names: Readonly<Record<string, string>> = {}): Node {
  return Object.fromEntries(
    Object.entries(values).flatMap(([parameter, value]) => {
      const template = names[parameter]
      if (template === undefined) return [[parameter, value]]
      const ids = String(value).split('/')
      return template
        .split('/')
        .flatMap((part, index) => (part.startsWith('{') ? [[part.slice(1, -1), ids[index]]] : []))
    }),
  )
}

/** What a path has for an id. */
export function idInPath({ template }: Pick<IdData, 'template'>, id: unknown): string {
  return template === undefined ? String(id) : String(id).replace(/^.*\//, '')
}

/** A text of a pattern with the chance of a UUID. */
export function idOfForm(pattern: string, uuid: string): string | undefined {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`)
  const pick = (count: number) => {
    const index = Number(rest % BigInt(count))
    // A long text has more characters than the UUID can choose.
    rest = rest / BigInt(count) || BigInt(`0x${uuid.replaceAll('-', '')}`)
    return index
  }
  return patternText(pattern, { minLength: LEAST_ID_LENGTH }, pick) ?? patternText(pattern, {}, pick)
}

/** Of ids whose pattern leaves the length open. */
const LEAST_ID_LENGTH = 16

/** How a sent value becomes part of a record whose schema differs from the request's. */
export interface Shape {
  /** Values of required properties that a client may leave out. */
  readonly fills?: Readonly<Record<string, unknown>>
  /** Ids that clients do not send, of the rows in a list. */
  readonly ids?: Readonly<Record<string, IdFill>>
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  /** The JSON types of the record, if requests may have others: those become texts, or are left out. */
  readonly types?: readonly string[]
  /** A single value stands for a list of one. */
  readonly wraps?: true
  /** A value stands for an object with this property, or an object for the property. */
  readonly key?: string
  readonly idOf?: string
  /** What a text or a number becomes, unless it has this format, or is one of the choices, or can be converted. */
  readonly becomes?: unknown
  readonly unless?: string
  readonly choices?: readonly unknown[]
}

export interface PropertyData {
  readonly readOnly: boolean
  readonly required: boolean
  /** Responses have null for a value that the record lacks. */
  readonly isNullable?: boolean
  /** Its values, if it has few: lists are filtered by an index. */
  readonly choices?: readonly unknown[]
  readonly shape?: Shape
  /** How the sandbox fills it if the client did not send it. Undefined if it is left out. */
  readonly fill?: Fill
}

export type Fill =
  | {
      readonly kind: 'value'
      readonly value: unknown
      /** No default: a record that has another value keeps it. */
      readonly isMadeUp?: true
    }
  /** Counted on from that of the first record: `INV-2026-0001`. */
  | { readonly kind: 'count'; readonly first: unknown }
  /** The instant at which the record was created, or last changed, in ISO 8601. */
  | { readonly kind: 'created-at' | 'updated-at'; readonly format: 'date-time' | 'date' | 'seconds' | 'milliseconds' }
  | IdFill

/** Another id than the one in the path: each record has its own. */
export type IdFill = Pick<IdData, 'pattern'> & { readonly kind: 'id'; readonly isCounted: boolean }

/** The part of a record that a response has: a summary, with values that the sandbox makes up. */
export interface View {
  /** The response has the id in place of the record. */
  readonly isId?: true
  /** The properties that it has; undefined for all. */
  readonly only?: readonly string[]
  /** Values of required properties that a record may lack. */
  readonly fills?: Readonly<Record<string, unknown>>
  /** The property that has the id, and its name in the record: `productId` of `id`. */
  readonly idAs?: readonly [name: string, property: string]
  /** The property that holds each record of a list: `[{ product: … }]`. */
  readonly envelope?: string
  /** Values of the properties beside that one. */
  readonly beside?: Readonly<Record<string, unknown>>
  /** The property beside it that has the id of the record as a cursor, and the property of the id. */
  readonly cursor?: readonly [name: string, property: string]
}

export function viewed(value: Node, { envelope, beside, cursor, ...view }: View): Node {
  if (envelope !== undefined) {
    const around = cursor === undefined ? beside : { ...beside, [cursor[0]]: String(value[cursor[1]]) }
    return { ...around, [envelope]: viewed(value, view) }
  }
  const { only, fills, idAs } = view
  const shown: Record<string, unknown> = idAs === undefined ? {} : { [idAs[0]]: value[idAs[1]] }
  if (only === undefined) return { ...fills, ...value, ...shown }
  for (const name of only) if (value[name] !== undefined) shown[name] = value[name]
  for (const name in fills) shown[name] ??= fills[name]
  return shown
}

/** What an operation does to a resource. Plain data. */
export interface ResourceAction {
  readonly resource: string
  /**
   * `patch` takes a JSON Patch. `show` responds with the record as the request would change it, and stores nothing:
   * `POST /bookings/{id}/cancel`.
   */
  readonly kind: 'list' | 'create' | 'get' | 'replace' | 'merge' | 'patch' | 'remove' | 'show'
  /** The documented status of success. */
  readonly status: number
  /** The response has a body with the record, or the records. */
  readonly hasBody: boolean
  /** The property of the response that holds the record, or the records; undefined if it is not wrapped. */
  readonly envelope?: string
  /** The property that holds the envelope: `_embedded` of HAL. */
  readonly outer?: string
  /** A single record is in a list in its envelope. */
  readonly isListed?: boolean
  /** The body is not the record: it consists of `meta`. */
  readonly isNotice?: boolean
  /** The whole body of the response, if it is neither a record nor an object: `true`. */
  readonly literal?: unknown
  /** The request creates several records, which it has in a list. */
  readonly isBulk?: boolean
  /** The media type of the response if it is not `application/json`. */
  readonly contentType?: string
  /** The property of the request that holds the record; undefined if it is not wrapped, and empty if it is a list. */
  readonly bodyEnvelope?: string
  /** That property holds a list with the record. */
  readonly isBodyListed?: boolean
  /** What the response has of a record, if not all of it. */
  readonly view?: View
  /** For lists: roles of query parameters. */
  readonly query?: QueryRoles
  /** The properties of the envelope beside the record, or the records. */
  readonly meta?: Readonly<Record<string, MetaField>>
  /** The same in `outer`. */
  readonly innerMeta?: Readonly<Record<string, MetaField>>
  /** Documented headers of the success, beside those that every response has. */
  readonly headers?: readonly HeaderData[]
  /** A 409 is documented for it, so that a value which must be unique is refused. */
  readonly hasConflict: boolean
  /** A 404 is documented for it, and no path names a record: one that the body refers to must be there. */
  readonly hasMissing?: boolean
  /** The status of a PUT that creates the record. */
  readonly createdStatus?: number
  /** Properties that a PUT cannot have in its body, and that it leaves alone. */
  readonly keeps?: readonly string[]
  /** Properties that are read-only in its body, and not elsewhere. */
  readonly ignores?: readonly string[]
  /** The request body names the record, not the path: `PUT /pets` with an id. */
  readonly isIdInBody?: boolean
  /** The query parameter that names the record: `DELETE /pets?id=1`; or a new one: `POST /shelves?shelfId=art`. */
  readonly idParameter?: string
  /** Parents in the path that are filters of a view: `/owners/{ownerId}/pets` of the pets in `/pets`. */
  readonly pathFilters?: readonly ParentData[]
  /** The path has the record's id without its parents: `/comments/{id}` of the comments in `/posts/{postId}/comments`. */
  readonly isShallow?: true
}

/** What the sandbox fills into the body of an error. */
export const FILLED = {
  message: '{message}',
  code: '{code}',
  status: '{status}',
  statusInText: '{status text}',
  /** `Not Found` */
  phrase: '{reason phrase}',
  /** In an entry of a list of errors: the field, as text, as a JSON pointer, as steps of texts, or of texts and numbers. An empty text after them: without the part of the request. */
  place: '{place}',
  /** In an object by field: its message, or that of all fields which are not in the object. */
  ofField: '{message} {of the field}',
  pointer: '{pointer}',
  steps: '{steps}',
  path: '{path}',
  rule: '{rule}',
  /** Of the codes that follow, with `|` between them, the one whose words fit the problem best; else the first. */
  choice: '{choice}',
} as const

export interface ErrorData {
  /** `404`, `4xx` or `default`. */
  readonly status: string
  readonly contentType: string
  /** JSON: the example, or the simplest value of the schema. */
  readonly body: string
  /** The same with what there is only for wrong fields of a request. */
  readonly ofFields?: string
  /** The start of their names that it leaves out. */
  readonly envelope?: string
  /** It names fields, and the 400 beside it does not. */
  readonly isForInvalid?: true
  /** The framework whose form it is. */
  readonly words?: ErrorWords
}

/** FastAPI has the words of pydantic, NestJS those of class-validator. */
export type ErrorWords = 'pydantic' | 'class-validator'

export interface HeaderData {
  readonly name: string
  readonly role: 'location' | 'link' | 'total' | 'etag' | 'range' | 'page' | 'value'
  /** Of the role `value`: its example. */
  readonly value?: string
  /** Of the role `page`: what an envelope would have. */
  readonly field?: MetaField
}

/** A property beside the records of a list, or the record. */
export type MetaField =
  | {
      readonly role: MetaRole
      readonly isRequired: boolean
      readonly isNullable: boolean
      /** Of the role `next`: an address rather than a bare cursor; a number rather than a text. */
      readonly isAddress: boolean
      readonly isNumber: boolean
    }
  | {
      readonly role: 'group'
      readonly fields: Readonly<Record<string, MetaField>>
      /** Null on the last page, if it has the next one. */
      readonly isNullable: boolean
    }
  | { readonly role: 'value'; readonly value: unknown }

export type MetaRole =
  | 'total'
  | 'has-more'
  | 'has-next'
  | 'next'
  | 'previous'
  | 'page'
  | 'limit'
  | 'offset'
  | 'pages'
  | 'count'
  | 'first'
  | 'last'
  | 'removed'
  | 'done'
  | 'is-first'
  | 'is-empty'
  | 'has-previous'
  | 'from'
  | 'to'
  | 'path'
  | 'first-page'
  | 'last-page'

/** `on` is an instant or its day. `from` and `to` also match a value that is missing: an event without an end. */
export type Comparison = 'on' | 'gt' | 'gte' | 'lt' | 'lte' | 'from' | 'to'

export interface QueryRoles {
  readonly limit?: string
  readonly offset?: string
  /** The offset that the page ends before. */
  readonly end?: string
  readonly page?: string
  readonly cursor?: string
  /** A cursor that the page ends before. */
  readonly before?: string
  readonly sort?: string
  readonly order?: string
  /** The first page is 0. */
  readonly isZeroBased?: boolean
  /** The offset of the first record is 1. */
  readonly isOneBased?: boolean
  /** The contract has names to sort by beside those of properties: they keep the order. */
  readonly hasSortChoices?: boolean
  /** Of the third: the parameter has the property's own schema, whose default is that of new records. */
  readonly filters: readonly (readonly [parameter: string, property: string, isShared?: true])[]
  /** Bounds of properties, such as `created[gte]`, and values of instants. */
  readonly ranges?: readonly (readonly [parameter: string, property: string, comparison: Comparison])[]
}

export function usedParameters({ idParameter = '', query = { filters: [] } }: ResourceAction): ReadonlySet<string> {
  const { filters, ranges = [], isZeroBased: _, isOneBased: __, hasSortChoices: ___, ...roles } = query
  const names = [idParameter, ...Object.values(roles), ...[...filters, ...ranges].map(([parameter]) => parameter)]
  // `page[size]` may be part of the object `page`.
  return new Set(names.flatMap((name) => [name, name.replace(/\[.*/, '')]))
}

/** The records in the body of a list. */
export function recordsIn(
  body: unknown,
  { outer, envelope }: Pick<ResourceAction, 'outer' | 'envelope'> = {},
): unknown {
  const inner: unknown = outer === undefined ? body : Object(body)[outer]
  return envelope === undefined ? inner : Object(inner)[envelope]
}

/** The value of a parameter, or of a property of one: `page[size]`. */
export function queryValue(query: Readonly<Record<string, unknown>>, name: string | undefined): unknown {
  if (name === undefined || query[name] !== undefined || !name.endsWith(']')) return query[name ?? '']
  const [outer = '', inner = ''] = name.slice(0, -1).split('[')
  return Object(query[outer])[inner]
}

export function isStateful({
  action,
  isMocked,
}: {
  readonly action?: ResourceAction
  readonly isMocked: boolean
}): boolean {
  return action !== undefined && !isMocked
}

/** @param now in milliseconds since the epoch @param own the number, or the UUID, of the record */
export function fillValue(fill: Fill, now: number, own?: number | bigint | string): unknown {
  if (fill.kind === 'value') return fill.value
  if (fill.kind === 'count') return own === undefined ? undefined : countedValue(fill.first, own)
  if (fill.kind === 'id') return fill.pattern === undefined ? own : idOfForm(fill.pattern, String(own))
  if (fill.format === 'seconds') return Math.floor(now / 1000)
  if (fill.format === 'milliseconds') return now
  const instant = new Date(now).toISOString()
  return fill.format === 'date' ? instant.slice(0, 10) : instant
}

export type HeaderFacts = { readonly [Role in Exclude<HeaderData['role'], 'value' | 'page'>]?: string | undefined } & {
  /** By name. */
  readonly page?: Readonly<Record<string, unknown>>
}

const NO_HEADERS: readonly (readonly [string, string])[] = []

/** The documented headers, if the sandbox has a value for them. */
export function headersOf(
  { headers = [] }: ResourceAction,
  facts: HeaderFacts,
): readonly (readonly [string, string])[] {
  if (headers.length === 0) return NO_HEADERS
  return headers.flatMap(({ name, role, value }) => {
    const text = role === 'value' ? value : role === 'page' ? facts.page?.[name] : facts[role]
    return text === undefined ? [] : [[name, String(text)] as const]
  })
}

/** The documented header with the entity tag. */
export function tagName(action: ResourceAction | undefined): string | undefined {
  return action?.headers?.find(({ role }) => role === 'etag')?.name
}
