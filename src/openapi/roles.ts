import { DIRECTION } from '../contract/directions.js'
import type { Node, Place } from '../contract/document.js'
import { exampleValue } from '../contract/example-value.js'
import { idNames, plainName, SUCCESS } from '../contract/names.js'
import type { Comparison, MetaField, MetaRole, QueryRoles } from '../contract/resource-data.js'
import {
  allowsNull,
  type Fields,
  isObject,
  mainPart,
  readAllFields,
  readRecordFields,
  typeOf,
  typesOf,
  variantsOf,
} from '../contract/schema-fields.js'
import { explodedFields } from './operations.js'
import { defined } from './parameters.js'
import { idsIn } from './request-shape.js'

const QUERY_NAMES = {
  limit:
    /^(_?limit|(items_?)?per_?page|page_?size|max_?(results?|items|result_?count|page_?size)|size|take|first|count|rows|\$?top|page\[(size|limit)\])$/i,
  offset: /^(offset|\$?skip(_?count)?|_?start|from|start_?(at|index)|first_?result|page\[offset\])$/i,
  end: /^_end$/,
  page: /^(_?page|current_?page|page_?(number|num|no|index)|page\[number\])$/i,
  cursor:
    /^(cursor|after|starting_?after|page_?token|next_?token|continuation_?token|iterator|marker|page\[(after|cursor)\])$/i,
  before: /^(ending_?before|before|page\[before\])$/i,
  sort: /^(_?sort|sort_?by|\$?order_?by|ordering|sorting)$/i,
  order: /^(_?order|dir|(sort_?|order_?(by_?)?)?direction|sort_?(order|dir)|order_?dir)$/i,
} as const

type Role = keyof typeof QUERY_NAMES

/** A boolean for the direction of an order: `SortDescending`, `desc`. */
const ORDER_FLAG = /^(?:is_?)?(?:sort_?|order_?)?(?:by_?)?(?:is_?)?(?:desc(?:ending)?|reversed?)$/i

/** Parameters that may be the start of a page of another kind. */
const STARTS =
  /start|offset|page|cursor|after|before|skip|token|index|position|marker|^(?:from|(?:since|max|min|last)_?id)$/i

const COUNTS: ReadonlySet<string> = new Set(['limit', 'offset', 'end', 'page'])

/** Names that can only be the size of a page, so that their type is the one of all counts. */
const SIZES = /^(limit|per_page|perPage|page_size|pageSize)$/

interface Asked {
  readonly name: string
  readonly schema: Place
  /** What its schema says, and the parameter. */
  readonly rules: Node
  readonly role: Role | undefined
  readonly property: string | undefined
}

export function queryRoles(parameters: readonly Place[], fields: Fields): QueryRoles {
  const roles: { -readonly [Name in Role]?: string } = {}
  const filters: (readonly [string, string, true?])[] = []
  const ranges: (readonly [string, string, Comparison])[] = []
  const asked = readAsked(parameters, fields)
  const names: string[] = []
  let isZeroBased = false
  let isOneBased = false
  let hasSortChoices = false
  for (const own of asked) {
    const { name, rules, property, schema } = own
    if (property !== undefined && !isForPages(own, asked)) {
      const [end, comparison] = spanOf(own, asked, fields) ?? []
      if (end !== undefined && comparison !== undefined) ranges.push([name, end, comparison])
      else if (fields.get(property)?.format === 'date-time') ranges.push([name, property, 'on'])
      else if (!filters.some(([known]) => known === name)) {
        const isShared = rules.default !== undefined && schema.value === fields.get(property)?.place.value
        filters.push(isShared ? [name, property, isShared] : [name, property])
      }
      continue
    }
    const [, outer = '', bound] = BOUND.exec(pathOf(name)) ?? []
    const bounded = bound && filteredProperty(outer, fields, own.schema)
    if (bounded) {
      ranges.push([name, bounded, bound.toLowerCase() as Comparison])
      continue
    }
    const worded = own.role === undefined ? boundInWords(own, fields) : undefined
    if (worded !== undefined) {
      ranges.push([name, ...worded])
      continue
    }
    if (/^date/.test(String(rules.format))) continue
    names.push(name)
    if (own.role === undefined) continue
    roles[own.role] ??= name
    const { minimum, default: first, description } = rules
    const isFrom = (value: number) => [minimum, first].some((item) => String(item) === String(value))
    if (roles.page === name)
      isZeroBased = isFrom(0) || /\b0\s*\.\.|\b(zero|0)[- ](based|index)/i.test(String(description))
    if (roles.offset === name) isOneBased = isFrom(1) || /index$/i.test(name)
    if (roles.sort === name)
      hasSortChoices = choicesIn(rules) !== undefined || [first ?? []].flat().some((key) => !isSortKey(key, fields))
  }
  const alone = roles.sort === undefined ? asked.find(({ name }) => name === roles.order) : undefined
  if (alone && /^_?order$/i.test(alone.name) && !isDirection(alone.rules)) {
    roles.sort = alone.name
    hasSortChoices = true
  }
  if (roles.cursor === undefined) delete roles.before
  if (roles.offset === undefined) delete roles.end
  // A size without its start would make every page the first one.
  const known: readonly unknown[] = Object.values(roles)
  const isStarted = (roles.page ?? roles.offset ?? roles.cursor) !== undefined
  if (!isStarted && names.some((name) => STARTS.test(name) && !known.includes(name))) delete roles.limit
  return {
    ...roles,
    ...(isZeroBased && { isZeroBased }),
    ...(isOneBased && { isOneBased }),
    ...(hasSortChoices && { hasSortChoices }),
    filters,
    ...(ranges.length > 0 && { ranges }),
  }
}

/** `-name`, `name,desc`, `name_desc`. */
function isSortKey(key: unknown, fields: Fields): boolean {
  const [name = ''] = /[\w.]+/.exec(String(key)) ?? []
  return fields.has(name) || fields.has(name.replace(/_(?:asc|desc)$/i, ''))
}

/** `created.gte` of `created[gte]`, and `price_lt`. */
const BOUND = /^(.+?)(?:\.|__?)([gl]te?)$/i

const WORDED = /^(?:(min|max|after|before|since|until)_(.+)|(.+)_(min|max|from|to|after|before|since|until))$/

/** `min_price` and `priceMax` of a number; `checkInFrom`, and `created_before` of `created_at`, of a date. */
function boundInWords({ name, schema }: Asked, fields: Fields): readonly [string, Comparison] | undefined {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
  const [, first, after = '', before = after, last = first] = WORDED.exec(words) ?? []
  if (last === undefined || before === 'id') return undefined
  const plain = plainName(before)
  const isNumber = isCount(schema) && /^(?:min|max|from|to)$/.test(last)
  const isText = typesOf(schema)?.has('string') !== false
  const [property] = [...fields].flatMap(([key, { type, format }]) => {
    const own = plainName(key)
    const isNumbered = isNumber && /^(?:number|integer)$/.test(type ?? '') && own === plain
    const isDated = isText && /^date/.test(format ?? '') && ['', 'at', 'on', 'date'].some((end) => own === plain + end)
    return isNumbered || isDated ? [key] : []
  })
  return property === undefined ? undefined : [property, /^(?:min|from|after|since)$/.test(last) ? 'gte' : 'lte']
}

/**
 * Dates named `start` and `end`, or `from` and `to`, like two properties: a record is shown if its time overlaps theirs.
 *
 * @returns the property at the other end, and how it compares
 */
function spanOf(own: Asked, asked: readonly Asked[], fields: Fields): readonly [string, Comparison] | undefined {
  const endName = ({ name }: Asked) => plainName(name).replace('start', 'end').replace('from', 'to')
  const isDate = ({ rules, property = '' }: Asked) => /^date/.test(String(fields.get(property)?.format ?? rules.format))
  const other = asked.find(
    (one) => one.property !== own.property && endName(one) === endName(own) && isDate(one) && isDate(own),
  )
  if (other?.property === undefined) return undefined
  return endName(own) === plainName(own.name) ? [other.property, 'to'] : [other.property, 'from']
}

function pathOf(name: string): string {
  return name.replace(/\[\]$/, '').replaceAll(/\[(.+?)\]/g, '.$1')
}

function readAsked(parameters: readonly Place[], fields: Fields): readonly Asked[] {
  const named = parameters.flatMap(queryNames)
  const has = (pattern: RegExp, isKind: (schema: Place) => boolean) =>
    named.some(([name, schema]) => pattern.test(name) && isKind(schema))
  const areTexts = has(SIZES, (schema) => typeOf(schema) === 'string')
  const isSpan = named.some(([name]) => /^(?:to|until)$/i.test(name))
  const isKeycloak = has(/^first$/, isCount) && has(/^max$/, isCount)
  return named.map(([name, schema, parameter]) => {
    const { description, example }: Node = Object(parameter.value)
    const rules: Node = { ...Object(mainPart(schema).value), ...defined({ description, example }) }
    const isNumber = isCount(schema, example) || (areTexts && typeOf(schema) === 'string')
    const keycloak = isKeycloak ? ({ first: 'offset', max: 'limit' } as const)[name] : undefined
    // Dates, and texts named `from` and `to`, are no places in a list.
    const isPlace = !/^date/.test(String(rules.format)) && (isNumber || !isSpan || !/^from$/i.test(name))
    const role = isPlace ? (keycloak ?? roleOf(name, rules, isNumber)) : undefined
    return {
      name,
      schema,
      rules,
      role,
      property: filteredProperty(pathOf(name), fields, schema),
    }
  })
}

/** Whether the parameter is for pages or their order although a property has its name. */
function isForPages({ name, role, rules }: Asked, asked: readonly Asked[]): boolean {
  if (role === 'order') return isDirection(rules)
  if (role === undefined || !COUNTS.has(role)) return false
  const isSize = (other: Asked) => other.role === 'limit'
  const isStart = (other: Asked) => /^(page|offset|cursor)$/.test(other.role ?? '')
  const [isSame, isBeside] = role === 'limit' ? [isSize, isStart] : [isStart, isSize]
  const others = asked.filter((other) => other.name !== name)
  return others.some(isBeside) && !others.some((other) => isSame(other) && other.property === undefined)
}

function roleOf(name: string, rules: Node, isNumber: boolean): Role | undefined {
  const bare = name.replace(/^pagination\[(.+)\]$/, '$1').replaceAll('-', '_')
  const [role] = (Object.entries(QUERY_NAMES) as [Role, RegExp][]).find(([, pattern]) => pattern.test(bare)) ?? []
  if (String(rules.type).includes('boolean')) return ORDER_FLAG.test(bare) ? 'order' : undefined
  if (role === 'sort' && isDirection(rules)) return 'order'
  if (role === undefined || isNumber || !COUNTS.has(role)) return role
  // A text is the token of a page.
  return role === 'offset' && !/start/i.test(bare) ? 'cursor' : undefined
}

function choicesIn({ enum: choices, items }: Node): readonly unknown[] | undefined {
  const found: unknown = choices ?? Object(items).enum
  return Array.isArray(found) ? found : undefined
}

function isDirection(rules: Node): boolean {
  return choicesIn(rules)?.every((choice) => DIRECTION.test(String(choice))) === true
}

const DIGITS = /^(?:\\d|[\^$+?*():|\d[\]{},-])+$/

/** Whether values are numbers, which some contracts write as texts. */
function isCount(schema: Place, example?: unknown): boolean {
  return variantsOf(schema).some(({ value }) => {
    const { type, format, pattern, default: usual, example: own, examples }: Node = Object(value)
    const samples = [usual, own, example, examples].flat()
    return (
      /integer|number/.test(String(type)) ||
      /^(numeric|u?int\d+)$/.test(String(format)) ||
      (typeof pattern === 'string' && DIGITS.test(pattern)) ||
      samples.some((item) => /^\d+$/.test(String(item)))
    )
  })
}

/** The names of a parameter of a query: `page[size]` is part of the object `page`, and `size` of an exploded one. */
function queryNames(parameter: Place): readonly (readonly [name: string, schema: Place, described: Place])[] {
  const [name, schema] = [parameter.string('name'), parameter.child('schema')]
  if (name === undefined || schema === undefined || parameter.string('in') !== 'query') return []
  const isDeep = parameter.string('style') === 'deepObject'
  const inside = isDeep ? readAllFields(schema) : explodedFields(parameter)
  const named = [...inside].map(([inner, { place }]) => [isDeep ? `${name}[${inner}]` : inner, place, place] as const)
  return inside.size > 0 && isObject(schema) ? named : [[name, schema, parameter], ...named]
}

/**
 * The path of the property that a parameter filters by: of the same name in any case, also as `filter[name]`, also of
 * JSON:API; `owner.id` for the id of an object: `ownerId`, `owner[id]`. `owner.id|name` for a parameter `owner`: the
 * value may be either.
 */
export function filteredProperty(name: string, fields: Fields, schema?: Place): string | undefined {
  const bare = name.replace(/^filters?\./, '')
  const attributes = fields.get('attributes')
  if (!fields.has(bare) && attributes && readRecordFields(attributes.place).has(bare)) return `attributes.${bare}`
  const named = (isNamed: (key: string) => boolean) => [...fields.keys()].find(isNamed)
  const own = fields.has(bare) ? bare : named((key) => plainName(key) === plainName(bare))
  const idsOf = (key: string) => {
    const { place } = fields.get(key) ?? {}
    return place ? idsIn(place.child('items') ?? place, SCALARS) : []
  }
  const linked = own ?? named((key) => idNames(key).includes(plainName(bare)) && idsOf(key).length > 0)
  const [id, ...others] = linked === undefined || (schema && typesOf(schema)?.has('object')) ? [] : idsOf(linked)
  if (linked !== undefined && id !== undefined) return `${linked}.${[id, ...(own && schema ? others : [])].join('|')}`
  if (linked !== undefined) return linked
  const [outer = '', ...rest] = bare.split('.')
  const { place } = fields.get(outer) ?? {}
  const inner = place && rest.length > 0 ? filteredProperty(rest.join('.'), readRecordFields(place), schema) : undefined
  return inner && `${outer}.${inner}`
}

const SCALARS: ReadonlySet<string> = new Set(['string', 'number'])

/** What a success always has: a constant, the only choice, or the example of `code` and `message`. */
function fixedValue(name: string, { value }: Place): unknown {
  const { const: only, enum: choices, example }: Node = Object(value)
  const isSaid = /^(code|status|msg|message)$/i.test(name)
  return only ?? (Array.isArray(choices) && choices.length === 1 ? choices[0] : isSaid ? example : undefined)
}

/** Beside one record. */
export const SUCCEEDED: readonly (readonly [MetaRole, RegExp])[] = [['removed', SUCCESS]]

export const COUNTED: readonly (readonly [MetaRole, RegExp])[] = [
  [
    'total',
    /^(total|num_?found|[a-z_]*total_?(count|items|results|entries|records|elements|size|rows|hits|docs)|(?!page)[a-z]+_?count)$/i,
  ],
  ['count', /^(count|number_?of_?elements)$/i],
  ['has-more', /^has_?more$/i],
  ['has-next', /^has_?next(_?page)?$/i],
  ['done', /^(done|last|is_?last(_?page)?)$/i],
  ['has-previous', /^has_?prev(ious)?(_?page)?$/i],
  ['is-first', /^(first|is_?first(_?page)?)$/i],
  ['is-empty', /^(is_?)?empty$/i],
  [
    'next',
    /^(next|next_?(page_?)?(link|ur[il]|token)|next_?(cursor|page|offset|start)|cursor|iterator|(end|after)_?cursor|after)$/i,
  ],
  ['previous', /^(prev(ious)?(_?(page(_?(token|ur[il]))?|cursor|token|link|ur[il]))?|(start|before)_?cursor|before)$/i],
  ['first', /^first_?id$/i],
  ['last', /^last_?id$/i],
  ['from', /^(from|paging_?counter)$/i],
  ['to', /^to$/i],
  ['path', /^path$/i],
  ['first-page', /^first_?(page_?)?(link|ur[il])$/i],
  ['last-page', /^last_?(page_?)?(link|ur[il])$/i],
  ['page', /^(page|current_?page|page_?number|page_?index|number)$/i],
  ['limit', /^(limit|(items_?)?per_?page|page_?size|size|take|max_?results)$/i],
  ['offset', /^(offset|skip|start|start_?(at|index))$/i],
  ['pages', /^(pages|total_?pages|page_?count|last_?page)$/i],
  ...SUCCEEDED,
]

const IN_HEADERS = /^(?:total|count|has-(?:more|next|previous)|next|previous|page|limit|offset|pages)$/

/** The role of a header such as `X-Total-Pages`. */
export function pageRole(header: string): MetaRole | undefined {
  const name = header.replace(/^(?:x-)?(?:pagination-)?/i, '').replaceAll('-', '_')
  return COUNTED.find(([role, pattern]) => IN_HEADERS.test(role) && pattern.test(name))?.[0]
}

/** In a response to DELETE that is not the record: `{ id, deleted: true }`. */
export const REMOVED: readonly (readonly [MetaRole, RegExp])[] = [
  ['removed', /^(deleted|removed|created|updated|saved|success|ok)$/i],
  ['last', /^g?id$/i],
]

/** In a response to a POST of several records. */
export const MADE: readonly (readonly [MetaRole, RegExp])[] = [
  ['count', /^(created|inserted|added|imported)$/i],
  ...COUNTED,
  ...REMOVED,
]

/** The types of the properties that need not be numbers. */
const FORMS: { readonly [Role in MetaRole]?: string } = {
  'has-more': 'boolean',
  'has-next': 'boolean',
  done: 'boolean',
  removed: 'boolean',
  'is-first': 'boolean',
  'is-empty': 'boolean',
  'has-previous': 'boolean',
  next: 'string',
  path: 'string',
  'first-page': 'string',
  'last-page': 'string',
  previous: 'string',
  first: 'string',
  last: 'string',
}

const EDGES: readonly (readonly [MetaRole, RegExp])[] = [
  ['first', /^start_?cursor$/i],
  ['last', /^end_?cursor$/i],
]

/** Objects in objects: `meta.pagination.links`. */
const MAX_WITHIN = 4

/**
 * The properties beside the record, or the records; or why one of them cannot be filled.
 *
 * @param hasLinks whether `next` is an address rather than a cursor
 */
export function readMeta(
  fields: Fields,
  envelope: string | undefined,
  known: readonly (readonly [MetaRole, RegExp])[],
  hasLinks = false,
  within: ReadonlySet<Fields> = new Set(),
  isInLinks = false,
): Readonly<Record<string, MetaField>> | string {
  const meta: Record<string, MetaField> = {}
  // In the connections of Relay, cursors are those of the edges; elsewhere, a cursor says whether there is more.
  const isConnection = [...fields.keys()].some((name) => /^has_?next/i.test(name))
  for (const [name, { place, type, format, required }] of fields) {
    if (name === envelope) continue
    const isNullable = allowsNull(place)
    const bare = name.replace(/^(?:@?odata\.|hydra:)/, '')
    const isLink = /(link|ur[il])$/i.test(bare) || (hasLinks && /^(next|prev|previous)(_?page)?$/i.test(bare))
    const linked = isInLinks && /^(first|last)$/i.test(bare) ? `${bare}_url` : bare
    const isAddress = type === 'string' && (isLink || /^ur[il]/.test(format ?? ''))
    const isCount = type === 'integer' || type === 'number'
    const role = known
      .flatMap(([one, pattern]) => (pattern.test(linked) ? one : []))
      .map((value) => (value === 'offset' && type === 'string' ? 'next' : value))
      .map((value) => (isConnection ? (EDGES.find(([, name]) => name.test(bare))?.[0] ?? value) : value))
      .find((value) =>
        isCount ? FORMS[value] !== 'boolean' && value !== 'path' : type !== undefined && type === FORMS[value],
      )
    if (role !== undefined) meta[name] = { role, isRequired: required, isNullable, isAddress, isNumber: isCount }
    else if (type === 'object') {
      const ownFields = readRecordFields(place)
      // A boss who has a boss; and entities that hold many others, along each of their ways.
      if (within.has(ownFields) || within.size > MAX_WITHIN) continue
      const isLinks = /^_?links$|^view$/i.test(bare)
      const inner = readMeta(
        ownFields,
        undefined,
        known,
        hasLinks || isLinks,
        new Set([...within, fields, ownFields]),
        isLinks,
      )
      if (typeof inner !== 'string' && Object.keys(inner).length > 0)
        meta[name] = { role: 'group', fields: inner, isNullable }
      else if (typeof inner !== 'string' && required) meta[name] = { role: 'value', value: {} }
      else if (required) return inner
    } else if (required || fixedValue(bare, place) !== undefined) {
      const value = fixedValue(bare, place) ?? exampleValue(place)
      if (value === undefined)
        return `nothing says how to fill the required property "${name}" of its response (${place.name})`
      meta[name] = { role: 'value', value }
    }
  }
  return meta
}
