import {
  createInstance,
  getHttpOperationsFromSpec,
  type IHttpConfig,
  type IHttpRequest,
  type IHttpResponse,
} from '@stoplight/prism-http'
import type { Contract, Operation } from './contract.js'
import type { ContractEngine, EngineAnswer, EngineRefusal, EngineRequest } from './engine.js'
import { exactReader } from './exact-request.js'
import { isNestedDeeper } from './json.js'
import { findJsonError } from './json-error.js'
import { readPairs } from './query.js'

type HttpOperation = Awaited<ReturnType<typeof getHttpOperationsFromSpec>>[number]
type HttpComponents = Parameters<typeof createInstance>[1]

const JSON_MEDIA_TYPE = /^application\/(?:[^;\s]+\+)?json\s*(?:;|$)/i
/** DiagnosticSeverity.Error of @stoplight/types; the other severities are hints. */
const ERROR = 0
/** Prism goes through a body by calling itself; no client of a mock needs as many levels. */
const DEEPEST_BODY = 500
/** Required by the configuration, but never called: our `forward` replaces it. */
const NOWHERE = new URL('http://prism.invalid')

/**
 * Opens Prism for a contract. This module takes a third of a second and 60 MB to load, so it
 * is for what nothing else does: operations without a handler.
 */
export async function openPrism(contract: Contract): Promise<ContractEngine> {
  const json = await contract.text('json')
  const document: unknown = JSON.parse(json, forPrism)
  const exact = exactReader(json)
  const operations = await getHttpOperationsFromSpec(Object(document))

  /** Runs a request through Prism, with our route: Prism's router compares base addresses that we do not have. */
  async function run(
    route: MatchedRoute,
    request: IHttpRequest,
    validateRequest: boolean,
    answer: IHttpResponse | undefined,
    code?: number,
  ) {
    const components: HttpComponents = {
      logger: SILENT,
      route: () => ({ _tag: 'Right', right: route.resource }),
      ...(answer === undefined ? {} : { forward: () => () => async () => ({ _tag: 'Right', right: answer }) }),
    }
    // A fresh configuration each time, because the mocker writes the client's Accept into it.
    const common = {
      validateRequest,
      validateResponse: false,
      checkSecurity: false,
      errors: false,
      upstreamProxy: undefined,
      mock: { dynamic: false, ...(code === undefined ? {} : { code }) },
    }
    const fresh: IHttpConfig =
      answer === undefined ? { ...common, isProxy: false } : { ...common, isProxy: true, upstream: NOWHERE }
    const result = await createInstance(fresh, components).request(request, [route.resource])()
    if (result._tag === 'Left') throw result.left
    return result.right
  }

  function find({ method, path }: EngineRequest): MatchedRoute {
    const route = contract.route(method, path)
    if (route.kind !== 'operation') throw new Error(`The contract has no operation ${method} ${path}.`)
    const { operation } = route
    const resource = operations.find(
      (candidate) => candidate.path === operation.path && candidate.method.toUpperCase() === operation.method,
    )
    if (resource === undefined) throw new Error(`Prism does not know ${operation.method} ${operation.path}.`)
    return { operation, resource }
  }

  return {
    async mock(request) {
      const route = find(request)
      if (request.forced !== undefined) {
        // Nothing of the request is asked for, so nothing of it that cannot be read is given to Prism.
        const bare = toHttpRequest({ ...request, headers: {}, query: '', body: '' })
        const { output } = await run(route, bare, false, undefined, request.forced)
        return toAnswer(output, route.operation)
      }
      const malformed = jsonProblem(request.headers['content-type'], request.body)
      if (malformed !== undefined) return { of: 'request', violations: [malformed] }
      if (JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? '') && isNestedDeeper(request.body, DEEPEST_BODY)) {
        return { of: 'request', violations: [`the body is nested deeper than ${DEEPEST_BODY} levels`] }
      }
      const asked = toHttpRequest(request)
      const dummy: IHttpResponse = { statusCode: 200 }
      const { validations } = await run(route, asked, true, dummy)
      const violations = [...sentences(validations.input), ...missingCookies(route.resource, request.headers.cookie)]
      if (violations.length > 0) return { of: refusedPart(validations.input), violations }
      const refusal = await exact.find(route.operation, request, {
        inForm: new Set(route.resource.request?.query?.flatMap(({ name, style }) => (style === 'form' ? name : []))),
        isJson: JSON_MEDIA_TYPE.test(request.headers['content-type'] ?? ''),
      })
      if (refusal !== undefined) return refusal
      const { output } = await run(route, asked, false, undefined)
      return toAnswer(output, route.operation)
    },
  }
}

/** Prism asks for no cookie. */
function missingCookies({ request }: HttpOperation, sent = ''): readonly string[] {
  const names = new Set(sent.split(';').map((pair) => pair.split('=', 1)[0]?.trim()))
  return (request?.cookie ?? [])
    .filter(({ name, required }) => required === true && !names.has(name))
    .map(({ name }) => `the cookie ${JSON.stringify(name)} is required`)
}

interface MatchedRoute {
  readonly operation: Operation
  readonly resource: HttpOperation
}

/** Reviver that prepares the document for Prism, which with the format int64 would refuse numbers beyond a double. */
function forPrism(name: string, value: unknown): unknown {
  return name === 'format' && value === 'int64' ? undefined : value
}

function toHttpRequest({ method, path, query, headers, body }: EngineRequest): IHttpRequest {
  const parameters = new Map<string, string | string[]>()
  for (const [name, value] of readPairs(query)) {
    const before = parameters.get(name)
    parameters.set(name, before === undefined ? value : [before, value].flat())
  }
  // Our own operations answer in JSON whatever the client accepts; mocked ones do the same.
  const { accept: _accept, ...others } = lowerCaseNames(headers)
  const parsed = toBody(headers['content-type'], body)
  return {
    method: method.toLowerCase() as IHttpRequest['method'],
    url: { path, query: Object.fromEntries(parameters) },
    // Prism checks a body's media type only if a length says that there is a body.
    headers: { ...others, 'content-length': String(Buffer.byteLength(body)) },
    ...(parsed === undefined ? {} : { body: parsed }),
  }
}

function toBody(contentType: string | undefined, text: string): unknown {
  if (text === '') return undefined
  return JSON_MEDIA_TYPE.test(contentType ?? '') ? JSON.parse(text) : text
}

function jsonProblem(contentType: string | undefined, text: string): string | undefined {
  if (text === '' || !JSON_MEDIA_TYPE.test(contentType ?? '')) return undefined
  const mistake = findJsonError(text)
  return mistake === undefined ? undefined : `the body is not valid JSON: ${mistake.message}`
}

function toAnswer(output: IHttpResponse, operation: Operation): EngineAnswer {
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

/** @param example the contract's own example, whose big numbers still have all their digits */
function bodyText(body: unknown, contentType: string | undefined, example: string | undefined): string {
  if (body === undefined || body === null) return ''
  if (typeof body === 'string' && !JSON_MEDIA_TYPE.test(contentType ?? '')) return body
  const text = JSON.stringify(body)
  return example !== undefined && JSON.stringify(JSON.parse(example)) === text ? example : text
}

function lowerCaseNames(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** Prism marks an unknown media type with the code 415, and a parameter with its path. */
function refusedPart(diagnostics: readonly Diagnostic[]): EngineRefusal['of'] {
  const errors = diagnostics.filter(({ severity }) => severity === ERROR)
  if (errors.some(({ path }) => path?.[0] === 'path')) return 'path'
  return errors.some(({ code }) => code === 415) ? 'media-type' : 'request'
}

interface Diagnostic {
  readonly severity: number
  readonly message: string
  readonly code?: string | number
  readonly path?: readonly string[]
}

function sentences(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.filter(({ severity }) => severity === ERROR).map(({ message }) => message)
}

function nothing(): void {}

/** Prism expects a pino logger with one extra level; this one drops everything. */
const SILENT = {
  fatal: nothing,
  error: nothing,
  warn: nothing,
  info: nothing,
  debug: nothing,
  trace: nothing,
  success: nothing,
  child: () => SILENT,
}
