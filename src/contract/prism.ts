import {
  createInstance,
  getHttpOperationsFromSpec,
  type IHttpConfig,
  type IHttpRequest,
  type IHttpResponse,
} from '@stoplight/prism-http'
import type { Contract, Operation, Values, Violation } from './contract.js'
import type { ContractEngine, EngineRefusal, EngineRequest, EngineResponse } from './engine.js'
import { isNestedDeeper, parseJson } from './json.js'
import { findJsonError } from './json-error.js'
import { excerptFor, type JsonObject } from './operation-excerpt.js'
import { readPairs } from './query.js'

type HttpOperation = Awaited<ReturnType<typeof getHttpOperationsFromSpec>>[number]
type HttpComponents = Parameters<typeof createInstance>[1]

const JSON_MEDIA_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i
/** DiagnosticSeverity.Error of @stoplight/types. */
const ERROR = 0
/** Levels of a body: Prism reads it by recursion. */
const MAX_DEPTH = 500
/** The configuration requires it; our `forward` replaces it. */
const NOWHERE = new URL('http://prism.invalid')

/** Takes a third of a second and 60 MB to load: only for operations without a handler. */
export async function openPrism(contract: Contract): Promise<ContractEngine> {
  const json = await contract.text('json')
  const members = Object.entries(Object(JSON.parse(json, forPrism))).filter(([name]) => !name.startsWith('x-'))
  const document: JsonObject = Object.fromEntries(members)
  const prepared = new Map<Operation, Promise<HttpOperation>>()

  /** One by one, because schemas that refer to each other can take exponential time. */
  function prepare(operation: Operation): Promise<HttpOperation> {
    const known = prepared.get(operation)
    if (known !== undefined) return known
    const resource = readOperation(document, operation)
    prepared.set(operation, resource)
    return resource
  }

  /** Uses our route: Prism's router compares base addresses. @param forced the status to mock, or `validate` */
  async function run(resource: HttpOperation, request: IHttpRequest, forced?: number | 'validate') {
    const isValidation = forced === 'validate'
    const components: HttpComponents = {
      logger: SILENT,
      route: () => ({ _tag: 'Right', right: resource }),
      ...(isValidation && { forward: () => () => async () => ({ _tag: 'Right', right: { statusCode: 200 } }) }),
    }
    // A fresh configuration each time, because the mocker writes the client's Accept into it.
    const common = {
      validateRequest: isValidation,
      validateResponse: false,
      checkSecurity: false,
      errors: false,
      upstreamProxy: undefined,
      mock: { dynamic: false, ...(typeof forced === 'number' && { code: forced }) },
    }
    const config: IHttpConfig = isValidation
      ? { ...common, isProxy: true, upstream: NOWHERE }
      : { ...common, isProxy: false }
    const result = await createInstance(config, components).request(request, [resource])()
    if (result._tag === 'Left') throw result.left
    return result.right
  }

  return {
    async mock(request) {
      const { method, path, headers, body, forced } = request
      const route = contract.route(method, path)
      if (route.kind !== 'operation') throw new Error(`The contract has no operation ${method} ${path}.`)
      const { operation, captured } = route
      const resource = await prepare(operation)
      if (forced !== undefined) {
        // The request does not matter, so Prism gets no part of it that may be unreadable.
        const bare = toHttpRequest({ ...request, headers: {}, query: '', body: '' })
        return toResponse((await run(resource, bare, forced)).output, operation)
      }
      const isJson = JSON_MEDIA_TYPE.test(headers['content-type'] ?? '')
      if (isJson && body !== '') {
        const mistake = findJsonError(body)
        if (mistake !== undefined)
          return { of: 'request', violations: [`the body is not valid JSON: ${mistake.message}`] }
        if (isNestedDeeper(body, MAX_DEPTH))
          return { of: 'request', violations: [`the body is nested deeper than ${MAX_DEPTH} levels`] }
      }
      const sent = toHttpRequest(request)
      const { input } = (await run(resource, sent, 'validate')).validations
      const errors = input.filter(({ severity }) => severity === ERROR)
      const violations = [...errors.map(({ message }) => message), ...missingCookies(resource, headers.cookie)]
      if (violations.length > 0) {
        const isPath = errors.some(({ path: place }) => place?.[0] === 'path')
        const of = isPath ? 'path' : errors.some(({ code }) => code === 415) ? 'media-type' : 'request'
        return { of, violations }
      }
      const refusal = refuseOverlooked(operation, captured, request, resource)
      return refusal ?? toResponse((await run(resource, sent)).output, operation)
    },
  }
}

async function readOperation(document: JsonObject, { method, path }: Operation): Promise<HttpOperation> {
  const operations = await getHttpOperationsFromSpec(Object(excerptFor(document, path, method.toLowerCase())))
  const found = operations.find((candidate) => candidate.path === path && candidate.method.toUpperCase() === method)
  if (found === undefined) throw new Error(`Prism does not know ${method} ${path}.`)
  return found
}

/** Refuses what Prism overlooks, with the readers of the contract. */
function refuseOverlooked(
  operation: Operation,
  captured: readonly string[],
  { query, headers, body }: EngineRequest,
  resource: HttpOperation,
): EngineRefusal | undefined {
  const messages = (violations: readonly Violation[]) => violations.map(({ message }) => message)
  const inPath = operation.readPath(captured).violations
  if (inPath.length > 0) return { of: 'path', violations: messages(inPath) }
  const inForm = new Set(resource.request?.query?.flatMap(({ name, style }) => (style === 'form' ? name : [])))
  const isJson = JSON_MEDIA_TYPE.test(headers['content-type'] ?? '')
  const value = isJson && body !== '' ? parseJson(body) : undefined
  const violations = [
    ...operation.readQuery(query).violations.filter(({ name }) => inForm.has(name.replace(/\[.*/, ''))),
    ...(typeof value === 'object' && value !== null ? operation.checkBody(value as Values) : []),
  ]
  return violations.length === 0 ? undefined : { of: 'request', violations: messages(violations) }
}

/** Prism does not check required cookies. */
function missingCookies({ request }: HttpOperation, sent = ''): readonly string[] {
  const names = new Set(sent.split(';').map((pair) => pair.split('=', 1)[0]?.trim()))
  return (request?.cookie ?? [])
    .filter(({ name, required }) => required === true && !names.has(name))
    .map(({ name }) => `the cookie ${JSON.stringify(name)} is required`)
}

/** With the format int64, Prism would refuse numbers beyond a double. */
function forPrism(name: string, value: unknown): unknown {
  return name === 'format' && value === 'int64' ? undefined : value
}

function toHttpRequest({ method, path, query, headers, body }: EngineRequest): IHttpRequest {
  const parameters = new Map<string, string | string[]>()
  for (const [name, value] of readPairs(query)) {
    const before = parameters.get(name)
    parameters.set(name, before === undefined ? value : [before, value].flat())
  }
  // The sandbox always responds with JSON.
  const { accept: _accept, ...others } = headers
  const isJson = JSON_MEDIA_TYPE.test(headers['content-type'] ?? '')
  return {
    method: method.toLowerCase() as IHttpRequest['method'],
    url: { path, query: Object.fromEntries(parameters) },
    // Without a length, Prism does not check the body's media type.
    headers: { ...others, 'content-length': String(Buffer.byteLength(body)) },
    ...(body !== '' && { body: isJson ? JSON.parse(body) : body }),
  }
}

function toResponse(output: IHttpResponse, operation: Operation): EngineResponse {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(output.headers ?? {})) {
    if (value !== null && value !== undefined) headers[name.toLowerCase()] = String(value)
  }
  const status = Number.isInteger(output.statusCode) ? output.statusCode : 200
  return {
    status,
    headers,
    body: bodyText(output.body, headers['content-type'], operation.responses.get(status)?.example),
  }
}

/** @param example the contract's own, with all digits of large numbers */
function bodyText(body: unknown, contentType: string | undefined, example: string | undefined): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string' && !JSON_MEDIA_TYPE.test(contentType ?? '')) return body
  const text = JSON.stringify(body)
  return example !== undefined && JSON.stringify(JSON.parse(example)) === text ? example : text
}

const nothing = () => {}
/** Prism expects a pino logger with one more level. */
const SILENT = {
  ...{ fatal: nothing, error: nothing, warn: nothing, info: nothing, debug: nothing, trace: nothing, success: nothing },
  child: () => SILENT,
}
