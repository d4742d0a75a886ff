import { createInstance, getHttpOperationsFromSpec, type IHttpConfig } from '@stoplight/prism-http'
import type { Contract, Operation } from './contract.js'
import { isNode, type Node, operationPlace, type Place, rootPlace } from './document.js'
import type { ContractEngine, MockRequest } from './engine.js'
import { exampleOf, exampleValue, fits, fullExample, nearExample } from './example-value.js'
import { stringifyJson } from './json.js'
import { concreteType, essenceOf, isJsonType, isXmlType } from './media-types.js'

type HttpOperation = Awaited<ReturnType<typeof getHttpOperationsFromSpec>>[number]
type HttpComponents = Parameters<typeof createInstance>[1]

interface Body {
  readonly text: string
  /** Why it breaks its schema. */
  readonly note?: string
}

interface Prepared {
  readonly resource: HttpOperation
  readonly hasResponses: boolean
  /** The bodies that Prism chooses from; it gets their numbers only, so that no schema or digit is lost or costs time. */
  readonly bodies: readonly Body[]
  readonly headersOf: (status: number) => Readonly<Record<string, string>>
}

/** Takes a third of a second and 60 MB to load: only for operations without a handler. */
export async function openPrism(contract: Contract): Promise<ContractEngine> {
  const root = rootPlace(await contract.document())
  const prepared = new Map<string, Promise<Prepared>>()

  return {
    async mock(request) {
      const { operation, status } = request
      const key = `${operation.id} ${status}`
      const known = prepared.get(key) ?? prepare(operationPlace(root, operation), operation, status)
      prepared.set(key, known)
      const { resource, bodies, headersOf, hasResponses } = await known
      // OpenAPI 3.1 allows an operation without responses.
      if (!hasResponses) return { status: status ?? 200, headers: {}, body: '' }
      const refused = request.accept !== undefined && operation.responses.has(406) ? [{ status: 406 }] : []
      const wishes: readonly Partial<MockRequest>[] = [
        request,
        ...refused,
        { ...request, accept: undefined },
        { status },
      ]
      for (const wish of wishes) {
        const output = await negotiate(resource, wish)
        if (output === undefined) continue
        const type = Object.entries(output.headers ?? {}).find(([name]) => /^content-type$/i.test(name))?.[1]
        const isEmpty = output.body === undefined || output.body === null
        const { text: body = '', note } = (isEmpty ? undefined : bodies[Number(output.body)]) ?? {}
        return {
          status: output.statusCode,
          headers: {
            ...headersOf(output.statusCode),
            ...(body !== '' && typeof type === 'string' && { 'content-type': type }),
            ...(note !== undefined && { 'x-sandbox-note': note }),
          },
          body,
          ...(wish.example !== undefined && { example: wish.example }),
        }
      }
      throw new Error(`Prism has no response of ${operation.id}.`)
    },
  }
}

/** @returns undefined if there is no such example, or no media type that the client accepts */
async function negotiate(resource: HttpOperation, { status, example, accept }: Partial<MockRequest>) {
  const components: HttpComponents = {
    logger: SILENT,
    // Prism's router compares base addresses.
    route: () => ({ _tag: 'Right', right: resource }),
  }
  const config: IHttpConfig = {
    isProxy: false,
    validateRequest: false,
    validateResponse: false,
    checkSecurity: false,
    errors: false,
    upstreamProxy: undefined,
    mock: {
      dynamic: false,
      ...(status !== undefined && { code: status }),
      ...(example !== undefined && { exampleKey: example }),
      ...(accept !== undefined && { mediaTypes: accept.split(',').map((range) => range.trim()) }),
    },
  }
  const request = { method: resource.method as 'get', url: { path: '/' }, headers: {} }
  const result = await createInstance(config, components).request(request, [resource])()
  return result._tag === 'Right' ? result.right.output : undefined
}

async function prepare(place: Place | undefined, operation: Operation, forced: number | undefined): Promise<Prepared> {
  const bodies: Body[] = []
  const named = place?.children('responses') ?? []
  const documented = new Map(named.map(([status, one]) => [status.replace(/xx$/, 'XX'), one]))
  const find = (status: string) =>
    documented.get(status) ?? documented.get(`${status[0]}XX`) ?? documented.get('default')
  const isFound = [...documented.keys()].some((status) => /^2\d\d$/.test(status))
  const statuses = [...documented.keys()].filter((status) => /^(?:[1-5]\d\d|default)$/.test(status))
  const wanted = [
    ...statuses,
    ...(forced === undefined ? [] : [String(forced)]),
    ...(isFound || !documented.has('2XX') ? [] : ['200']),
  ]
  const [range] = [...documented.keys()].flatMap((status) => (/^[1-5]XX$/.test(status) ? [`${status[0]}00`] : []))
  if (wanted.length === 0 && range !== undefined) wanted.push(range)
  const responses = Object.fromEntries(
    wanted.map((status) => [status, { description: '', content: contentsOf(find(status), Number(status), bodies) }]),
  )
  const paths = { '/': { [operation.method.toLowerCase()]: { responses } } }
  const [resource] = await getHttpOperationsFromSpec({ openapi: '3.1.0', info: { title: '', version: '' }, paths })
  if (resource === undefined) throw new Error(`Prism cannot read ${operation.id}.`)
  return {
    resource,
    hasResponses: wanted.length > 0,
    bodies,
    headersOf: (status) => mockedHeaders(find(String(status))),
  }
}

/** The contents of a response with a number for each example. */
function contentsOf(response: Place | undefined, status: number, bodies: Body[]) {
  const contents = (response?.entries('content') ?? []).map(([mediaType, content]) => {
    const essence = essenceOf(mediaType)
    const examples = examplesOf(content, status, isJsonType(essence), isXmlType(essence)).map(([name, body]) => {
      return [name, { value: String(bodies.push(body) - 1) }] as const
    })
    return [concreteType(mediaType), { examples: Object.fromEntries(examples) }] as const
  })
  return Object.fromEntries(contents)
}

/** By name; the first is valid. */
function examplesOf(
  content: Place,
  status: number,
  isJson: boolean,
  isXml: boolean,
): readonly (readonly [name: string, body: Body])[] {
  const schema = content.child('schema')
  const named = content.entries('examples').map(([name, example]) => [name, example.written('value').value] as const)
  const all = named.length > 0 ? named : [['default', exampleOf(content)] as const]
  const given = all.filter(([, value]) => value !== undefined)
  const valid = given.filter(([, value]) => schema === undefined || !isJson || fits(value, schema, 'response'))
  const isMade = valid.length === 0 && (isJson || schema !== undefined)
  const full = isMade && schema ? withStatus(fullExample(schema), status, schema) : undefined
  const isUnfit = isMade && schema !== undefined && full === undefined
  const made = isMade ? [['default', schema === undefined ? {} : isUnfit ? nearExample(schema) : full] as const] : []
  const texts = new Map<string, unknown>()
  for (const [name, value] of [...valid, ...made, ...given]) if (!texts.has(name)) texts.set(name, value)
  const textOf = (value: unknown) => {
    if (typeof value === 'string' && !isJson) return value
    return isXml ? xmlOf(xmlName(content.written('schema')), value) : stringifyJson(value)
  }
  const note = `No value is known that the schema allows (${schema?.name.replaceAll(/[^ -~]/g, '?')})`
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
  if (Array.isArray(value)) return value.map((one) => xmlOf(name, one)).join('')
  const inner = isNode(value)
    ? Object.entries(value)
        .map(([key, one]) => xmlOf(key, one))
        .join('')
    : String(value ?? '').replace(/[<&>]/g, (character) => `&#${character.charCodeAt(0)};`)
  return `<${name}>${inner}</${name}>`
}

/** An error that repeats its status has that of the response. */
function withStatus(value: unknown, status: number, schema: Place): unknown {
  if (!(status >= 400) || !isNode(value) || typeof value.status !== 'number') return value
  const other = { ...value, status }
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

const nothing = () => {}
/** Prism expects a pino logger with one more level. */
const SILENT = {
  ...{ fatal: nothing, error: nothing, warn: nothing, info: nothing, debug: nothing, trace: nothing, success: nothing },
  child: () => SILENT,
}
