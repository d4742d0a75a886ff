import type { Operation } from './contract.js'
import { isNode, type Node, type Place } from './document.js'
import type { MockedResponse, MockRequest } from './engine.js'
import { exampleOf, exampleValue, fits, fullExample, nearExample } from './example-value.js'
import { stringifyJson } from './json.js'
import { essenceOf, isJsonType } from './media-types.js'
import { SUCCESS } from './names.js'

export interface MockedBody {
  readonly text: string
  /** Why it breaks its schema. */
  readonly note?: string
}

/** A response by the wishes of a client. */
export interface ChosenResponse {
  readonly status: number
  readonly contentType: string | undefined
  readonly body: MockedBody | undefined
}

export type Wish = Partial<Pick<MockRequest, 'status' | 'example' | 'accept'>>

/** The documented responses of an operation. */
export interface MockedResponses {
  /** Those to choose from. */
  readonly statuses: readonly string[]
  find(status: string): Place | undefined
}

/** @param forced status, which need not be documented */
export function mockedResponses(place: Place | undefined, forced: number | undefined): MockedResponses {
  const named = place?.children('responses') ?? []
  const documented = new Map(named.map(([status, one]) => [status.replace(/xx$/, 'XX'), one]))
  const isFound = [...documented.keys()].some((status) => /^2\d\d$/.test(status))
  const statuses = [
    ...[...documented.keys()].filter((status) => /^(?:[1-5]\d\d|default)$/.test(status)),
    ...(forced === undefined ? [] : [String(forced)]),
    ...(isFound || !documented.has('2XX') ? [] : ['200']),
  ]
  const [range] = [...documented.keys()].flatMap((status) => (/^[1-5]XX$/.test(status) ? [`${status[0]}00`] : []))
  if (statuses.length === 0 && range !== undefined) statuses.push(range)
  const find = (status: string) =>
    documented.get(status) ?? documented.get(`${status[0]}XX`) ?? documented.get('default')
  return { statuses, find }
}

/**
 * The response to the first wish that can be granted: the request itself, a documented 406, whatever the client accepts,
 * without its example.
 * @param choose returns undefined if there is no such example, or no media type that the client accepts
 */
export async function mockBy(
  request: MockRequest,
  { responses }: Operation,
  { statuses, find }: MockedResponses,
  choose: (wish: Wish) => Promise<ChosenResponse | undefined> | ChosenResponse | undefined,
): Promise<MockedResponse | undefined> {
  const { status } = request
  // OpenAPI 3.1 allows an operation without responses.
  if (statuses.length === 0) return { status: status ?? 200, headers: {}, body: '' }
  const refused = request.accept !== undefined && responses.has(406) ? [{ status: 406 }] : []
  const wishes: readonly Wish[] = [request, ...refused, { ...request, accept: undefined }, { status }]
  for (const wish of wishes) {
    const chosen = await choose(wish)
    if (chosen === undefined) continue
    const { text: body = '', note } = chosen.body ?? {}
    return {
      status: chosen.status,
      headers: {
        ...mockedHeaders(find(String(chosen.status))),
        ...(body !== '' && chosen.contentType !== undefined && { 'content-type': chosen.contentType }),
      },
      body,
      ...(note !== undefined && { note }),
      ...(wish.example !== undefined && { example: wish.example }),
    }
  }
  return undefined
}

/** The contents of a response by media type. JSON is first, for clients that accept anything. */
export function contentsOf(response: Place | undefined): readonly (readonly [mediaType: string, content: Place])[] {
  const rank = ([mediaType]: readonly [string, Place]) => (isJsonType(essenceOf(mediaType)) ? 0 : 1)
  return [...(response?.entries('content') ?? [])].sort((a, b) => rank(a) - rank(b))
}

/** By name; the first is valid. */
export function examplesOf(
  content: Place,
  status: number,
  isJson: boolean,
  isXml: boolean,
): readonly (readonly [name: string, body: MockedBody])[] {
  const schema = content.child('schema')
  const named = content.entries('examples').map(([name, example]) => [name, example.written('value').value] as const)
  const all = named.length > 0 ? named : [['default', exampleOf(content)] as const]
  const given = all.filter(([, value]) => value !== undefined)
  const valid = given.filter(([, value]) => schema === undefined || !isJson || fits(value, schema, 'response'))
  const isMade = valid.length === 0 && (isJson || schema !== undefined)
  const full = isMade && schema ? withStatus(fullExample(schema, status >= 400), status, schema) : undefined
  const isUnfit = isMade && schema !== undefined && full === undefined
  const made = isMade ? [['default', schema === undefined ? {} : isUnfit ? nearExample(schema) : full] as const] : []
  const texts = new Map<string, unknown>()
  for (const [name, value] of [...valid, ...made, ...given]) if (!texts.has(name)) texts.set(name, value)
  const textOf = (value: unknown) => {
    if (typeof value === 'string' && !isJson) return value
    return isXml ? xmlOf(xmlName(content.written('schema')), value) : stringifyJson(value)
  }
  const note = `No value is known that the schema allows (${schema?.name})`
  return [...texts].map(([name, value]) => {
    return [name, { text: textOf(value), ...(isUnfit && name === 'default' && { note }) }]
  })
}

/** @source OpenAPI specification: XML Object */
function xmlName({ value }: Place): string {
  const { xml, $ref, allOf }: Node = Object(value)
  const given: unknown = Object(xml).name
  const reference = $ref ?? Object(Array.isArray(allOf) ? allOf[0] : undefined).$ref
  return typeof given === 'string' ? given : (/[^/]+$/.exec(String(reference ?? ''))?.[0] ?? 'root')
}

function xmlOf(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((item) => xmlOf(name, item)).join('')
  const inner = isNode(value)
    ? Object.entries(value)
        .map(([key, one]) => xmlOf(key, one))
        .join('')
    : String(value ?? '').replace(/[<&>]/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<${name}>${inner}</${name}>`
}

/** An error that repeats its status has that of the response, and a success says that it is one. */
function withStatus(value: unknown, status: number, schema: Place): unknown {
  if (!isNode(value)) return value
  const success =
    status < 300 ? Object.keys(value).find((name) => SUCCESS.test(name) && value[name] === false) : undefined
  if (success === undefined && !(status >= 400 && typeof value.status === 'number')) return value
  const other = { ...value, ...(success === undefined ? { status } : { [success]: true }) }
  return fits(other, schema, 'response') ? other : value
}

function mockedHeaders(response: Place | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (response?.entries('headers') ?? []).flatMap(([name, header]) => {
      const schema = header.child('schema')
      const value = exampleOf(header) ?? (schema && exampleValue(schema))
      return value === undefined || value === null ? [] : [[name.toLowerCase(), [value].flat().map(String).join()]]
    }),
  )
}
