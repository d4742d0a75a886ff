import { type Context, Hono } from 'hono'
import { METHOD_NAME_ALL } from 'hono/router'
import type { Contract } from '../contract/contract.js'
import { excerpt } from '../contract/excerpt.js'
import { isNestedDeeper, MAX_BODY_DEPTH, parseJson, stringifyJson } from '../contract/json.js'
import { packagedTag } from '../contract/packaged-contract.js'
import { packagedText } from '../contract/packaged-text.js'
import { servedText } from '../contract/served-text.js'
import { type LongBody, SLICE_CHARACTERS, sliceBody } from '../domain/messages.js'
import { errorBody, PROBLEMS, type ProblemCode } from '../domain/problems.js'
import { allowedHeaders } from '../domain/request-headers.js'
import { messageOf } from '../system/message-of.js'
import { loadYaml } from '../system/runtime.js'
import { type GuardRules, guard } from './guard.js'
import { DOCUMENT_PATHS, PAGE_FILES, packagedDocument, servePageFile } from './pages.js'
import { CONTROL_PATH, DASHBOARD_PATH } from './path.js'
import { asVerbError, perform } from './perform.js'
import { streamExchanges } from './stream.js'
import { type ControlTarget, findSpace, type Verb, VerbError } from './verb.js'
import type { VerbName } from './verb-map.js'
import { VERBS } from './verbs.js'

export interface SandboxIdentity {
  readonly pid: number
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

export interface Health {
  readonly status: 'healthy' | 'degraded'
  readonly reason?: string
  readonly position?: number
  readonly lagMs?: number
}

/** Of calls without a socket: code with access to the sandbox object may control it, whatever the headers. */
export type CallerRole = 'owner' | undefined

interface Env {
  readonly Bindings: { readonly role?: CallerRole }
}

export interface ControlPlane {
  readonly sandbox: ControlTarget
  readonly contract: Contract
  readonly version: string
  readonly identity: SandboxIdentity
  readonly rules: GuardRules
  health(): Health
  warn(message: string): void
}

/**
 * Creates the control plane: verbs, health, the stream of exchanges, contracts and pages. It is never rate limited,
 * faulted or delayed.
 * @source docs/control-api.md, "Control plane"
 */
export function controlRoutes(
  plane: ControlPlane,
): (request: Request, role: CallerRole) => Response | Promise<Response> {
  const { sandbox, contract, rules } = plane
  const root = new Hono<Env>()
  const app = root.basePath(CONTROL_PATH)
  app.use((context, next) => admit(rules, context, next))
  app.get('/health', () => {
    const { status, ...facts } = plane.health()
    const body = { status, version: plane.version, ...plane.identity, ...facts }
    // On a 503, a load balancer chooses another replica.
    return text('application/json', stringifyJson(body), status === 'healthy' ? 200 : 503)
  })
  const served = servedText(contract)
  const baseUrl = (context: Context<Env>) => originOf(context) + sandbox.spaces.default.shared.basePath
  app.get('/openapi.yaml', async (context) => text('application/yaml', await served('yaml', baseUrl(context))))
  app.get('/openapi.json', async (context) => {
    const tag = contract.text === packagedText ? await packagedTag() : undefined
    if (tag !== undefined && context.req.header('if-none-match') === tag)
      return new Response(null, { status: 304, headers: { ETag: tag } })
    const response = text('application/json', await served('json', baseUrl(context)))
    if (tag !== undefined) response.headers.set('ETag', tag)
    return response
  })
  app.get('/control.openapi.yaml', async () => {
    const { description } = await import('./generated/description.js')
    // YAML aliases of shared parts would be hard to read.
    return text('application/yaml', loadYaml().stringify(description, { aliasDuplicateObjects: false }))
  })
  for (const [path, page] of Object.entries(PAGE_FILES))
    root.get(CONTROL_PATH + path, (context) => servePageFile(page, context.req.raw))
  app.on('GET', DOCUMENT_PATHS, (context) => {
    const document = packagedDocument(context.req.path.slice(DASHBOARD_PATH.length))
    return document === undefined ? context.notFound() : text('text/markdown; charset=utf-8', document)
  })
  // The dashboard's address ends in a slash, because its files are relative to it.
  app.get('/', (context) => context.redirect(DASHBOARD_PATH + new URL(context.req.url).search, 308))
  app.get('/requests/stream', async (context) => {
    const space = await sandbox.read(() => findSpace(sandbox.spaces, context.req.query('space') ?? ''))
    return streamExchanges(space, sandbox.stopping, context)
  })
  for (const [name, verb] of Object.entries(VERBS) as readonly (readonly [VerbName, Verb])[]) {
    const path = verb.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(verb.method, path, (context) => runVerb(sandbox, name, verb, context))
  }
  app.notFound((context) => notFound(root, context))
  app.onError((failure) => {
    const error = asVerbError(failure)
    if (error instanceof VerbError) return refusal(error.code, error.message, { example: error.example })
    plane.warn(`The control plane failed: ${failure.stack ?? failure.message}`)
    return refusal('internal_error', PROBLEMS.internal_error.message)
  })
  return (request, role) => app.fetch(request, { role })
}

/** @source RFC 9110, section 7.2 */
const HOST = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/

/** The origin by the Host header, which is right even behind a mapped port. */
function originOf({ env, req }: Context<Env>): string {
  if (env.role === 'owner') return new URL(req.url).origin
  const host = req.header('host') ?? ''
  // Other text must not get into a document. A relative address works.
  return HOST.test(host) ? `http://${host}` : ''
}

const HEALTH_PATH = `${CONTROL_PATH}/health`
/** Served without a token; the pages prompt for it, and the first redirects to the dashboard. */
const OPEN_PAGES: ReadonlySet<string> = new Set(['', ...Object.keys(PAGE_FILES)].map((path) => CONTROL_PATH + path))
/** Pages that may be linked; the first redirects to the dashboard. */
const LINKED: ReadonlySet<string> = new Set([CONTROL_PATH, DASHBOARD_PATH, `${CONTROL_PATH}/docs`])

/** Adds CORS headers to refusals too, so that an allowed page can read them. */
async function admit(
  rules: GuardRules,
  context: Context<Env>,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const { req, env } = context
  const { path, method } = req
  const cors = corsHeaders(context, rules)
  if (method === 'OPTIONS' && cors !== undefined) return context.body(null, 204, cors)
  const isNavigation = req.header('sec-fetch-mode') === 'navigate' && req.header('sec-fetch-dest') === 'document'
  const isOpen = path === HEALTH_PATH || (rules.token !== undefined && OPEN_PAGES.has(path))
  const opensPage = isNavigation && LINKED.has(path) && (method === 'GET' || method === 'HEAD')
  const header = (name: string) => (name === 'host' && env.role === 'owner' ? 'localhost' : req.header(name))
  const refused = isOpen ? undefined : guard(header, opensPage, rules)
  if (refused === undefined) await next()
  else context.res = refusal('forbidden', refused.message, { status: refused.status })
  for (const [name, value] of Object.entries(cors ?? {})) context.res.headers.set(name, value)
  return undefined
}

/** A long scenario has a few kilobytes. Parsing megabytes would delay every request. */
const MAX_BODY_CHARACTERS = 256_000
/** A longer list is streamed: all records may be larger than everything else in memory. A short one takes half the time. */
const MAX_WHOLE = 10

/** @param fixed fields that the path stands for */
async function runVerb(sandbox: ControlTarget, name: VerbName, verb: Verb, { req }: Context): Promise<Response> {
  const { space = '', ...query } = req.query()
  const inPath = req.param()
  const body = readBody(verb, await req.text())
  const repeated = Object.keys(body).find((field) => Object.hasOwn(inPath, field))
  if (repeated !== undefined)
    throw new VerbError('invalid_request', `${repeated} is set by the path and cannot be changed.`)
  const output = await perform(sandbox, space, name, { ...query, ...body, ...inPath })
  const isLong = Array.isArray(output) && output.length > MAX_WHOLE
  return text('application/json', isLong ? jsonList(output) : stringifyJson(output))
}

function readBody(verb: Verb, sent: string): Readonly<Record<string, unknown>> {
  if (sent === '') return {}
  if (sent.length > MAX_BODY_CHARACTERS) throw new VerbError('payload_too_large', 'The body is larger than 256 kB.')
  let body: unknown
  try {
    body = parseJson(sent)
  } catch (error) {
    throw new VerbError('invalid_request', `The body is not valid JSON: ${messageOf(error)}.`)
  }
  if (isNestedDeeper(sent, MAX_BODY_DEPTH))
    throw new VerbError('invalid_request', `The body is nested deeper than ${MAX_BODY_DEPTH} levels.`)
  if (verb.body !== undefined) return { [verb.body]: body }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new VerbError('invalid_request', 'The body must be a JSON object.')
}

function notFound({ routes }: Hono<Env>, { req }: Context): Response {
  const here = routes.filter(
    ({ method, path }) =>
      method !== METHOD_NAME_ALL &&
      new RegExp(`^${path.replaceAll(/:\w+(?:\{[^}]*\})?/g, '[^/]+').replaceAll('.', '\\.')}$`).test(req.path),
  )
  const methods = new Set(here.map(({ method }) => method))
  const allow = [...methods].join(', ')
  if (allow === '' || methods.has(req.method))
    return refusal('not_found', `The control plane has no ${excerpt(req.path.slice(CONTROL_PATH.length)) || '/'}.`)
  const response = refusal('method_not_allowed', `This path supports ${allow}, not ${req.method}.`)
  response.headers.set('Allow', allow)
  return response
}

function corsHeaders({ req }: Context, { origins }: GuardRules): Record<string, string> | undefined {
  const origin = req.header('origin')
  if (origin === undefined || !origins.includes(origin)) return undefined
  const requested = req.header('access-control-request-headers')
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers': allowedHeaders(['Authorization', 'Content-Type'], requested),
    Vary: 'Origin, Access-Control-Request-Headers',
  }
}

function text(contentType: string, body: string | Uint8Array | LongBody, status = 200): Response {
  const headers: Record<string, string> = { 'Content-Type': contentType, 'Cache-Control': 'no-store' }
  const isShort = typeof body === 'string' && body.length < SLICE_CHARACTERS
  const bytes = isShort ? new TextEncoder().encode(body) : body
  if (!(bytes instanceof Uint8Array)) return new Response(streamOf(bytes), { status, headers })
  return new Response(new Uint8Array(bytes), { status, headers: { ...headers, 'Content-Length': `${bytes.length}` } })
}

function refusal(
  code: ProblemCode,
  message: string,
  { status = PROBLEMS[code].status, example }: { readonly status?: number; readonly example?: string | undefined } = {},
): Response {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  if (code === 'log_unavailable') headers['Retry-After'] = '1'
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="petstore-sandbox control"'
  return new Response(stringifyJson({ ...JSON.parse(errorBody(code, message, status)), example }), { status, headers })
}

function jsonList(items: readonly unknown[]): LongBody {
  return {
    *pieces() {
      let before = '['
      for (const item of items) {
        yield before + stringifyJson(item)
        before = ','
      }
      yield before === '[' ? '[]' : ']'
    },
  }
}

function streamOf(body: string | LongBody): ReadableStream<Uint8Array> {
  const slices = sliceBody(body)
  const encoder = new TextEncoder()
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = slices.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
    },
    { highWaterMark: 0 },
  )
}
