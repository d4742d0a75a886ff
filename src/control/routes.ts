import { type Context, Hono } from 'hono'
import type { Contract } from '../contract/contract.js'
import { excerpt } from '../contract/excerpt.js'
import { isNestedDeeper, parseJson, stringifyJson } from '../contract/json.js'
import { servedText } from '../contract/served-text.js'
import { allowedHeaders } from '../domain/cors.js'
import type { LongBody } from '../domain/long-body.js'
import { errorBody, PROBLEMS, type ProblemCode } from '../domain/problems.js'
import { messageOf } from '../system/message-of.js'
import { describeControl } from './description.js'
import { findSpace } from './find-space.js'
import { type GuardedRequest, type GuardRules, guard } from './guard.js'
import { jsonList, streamOf } from './long-answer.js'
import { PAGE_FILES, servePageFile } from './pages.js'
import { CONTROL_PATH, DASHBOARD_PATH } from './path.js'
import { perform } from './perform.js'
import { streamExchanges } from './stream.js'
import { type ControlTarget, type Verb, VerbError } from './verb.js'
import type { VerbName } from './verb-map.js'
import { VERBS } from './verbs.js'

/** Which sandbox it is; GET /health tells, so that nobody takes another one for it. */
export interface SandboxIdentity {
  readonly pid: number
  /** ISO 8601, UTC. */
  readonly startedAt: string
}

/** Whether it can answer. Of a replica also how far it is. */
export interface Health {
  readonly status: 'healthy' | 'degraded'
  /** Why it is degraded. */
  readonly reason?: string
  /** How many commands it has applied. */
  readonly position?: number
  /** How long its own entries take to come back from the log, in milliseconds. */
  readonly lagMs?: number
}

/** Who asks where no socket is between: code that holds the sandbox may control it, whatever the request says. */
export type Asker = 'owner' | undefined

interface Env {
  readonly Bindings: { readonly asker?: Asker }
}

export interface ControlPlane {
  readonly sandbox: ControlTarget
  /** The one being served. */
  readonly contract: Contract
  readonly version: string
  readonly identity: SandboxIdentity
  readonly rules: GuardRules
  health(): Health
  warn(message: string): void
}

/**
 * Makes the control plane: one route for each verb of the table, health, the
 * stream of exchanges, the contracts. Never rate limited, faulted or delayed.
 *
 * @source docs/control-api.md, "Control plane"
 */
export function controlRoutes(plane: ControlPlane): (request: Request, asker: Asker) => Response | Promise<Response> {
  const root = new Hono<Env>()
  const app = root.basePath(CONTROL_PATH)
  app.use((context, next) => admit(plane.rules, context, next))
  app.get('/health', () => {
    const { status, ...facts } = plane.health()
    const body = { status, version: plane.version, ...plane.identity, ...facts }
    // A load balancer is to ask another replica.
    return text('application/json', stringifyJson(body), status === 'healthy' ? 200 : 503)
  })
  const served = servedText(plane.contract)
  const baseUrl = (context: Context<Env>) => addressOf(context) + plane.sandbox.spaces.default.shared.basePath
  app.get('/openapi.yaml', async (context) => text('application/yaml', await served('yaml', baseUrl(context))))
  app.get('/openapi.json', async (context) => text('application/json', await served('json', baseUrl(context))))
  app.get('/control.openapi.yaml', () => text('application/yaml', describeControl(plane.version)))
  for (const [path, page] of Object.entries(PAGE_FILES))
    root.get(CONTROL_PATH + path, (context) => servePageFile(page, context.req.raw))
  // The dashboard's address ends in a slash, so that its own files are beside it.
  app.get('/', (context) => context.redirect(DASHBOARD_PATH + new URL(context.req.url).search, 308))
  app.get('/requests/stream', (context) =>
    answerErrors(async () => {
      const space = await plane.sandbox.read(() => steeredBy(plane, context))
      return streamExchanges(space, plane.sandbox.stopping, context)
    }),
  )
  for (const [name, verb] of Object.entries(VERBS) as readonly (readonly [VerbName, Verb])[]) {
    const path = verb.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(verb.method, path, (context) => answerErrors(() => runVerb(plane, name, context)))
  }
  app.notFound((context) => notFound(context))
  app.onError((error) => {
    plane.warn(`The control plane failed: ${error.stack ?? error.message}`)
    return refusal('internal_error', PROBLEMS.internal_error.message)
  })
  return (request, asker) => app.fetch(request, { asker })
}

/**
 * Where the sandbox is, as the caller knows it: by the Host that it asked, so that it is right behind a mapped port;
 * without a socket by the address that it asked for.
 */
function addressOf(context: Context<Env>): string {
  if (context.env.asker === 'owner') return new URL(context.req.url).origin
  const host = context.req.header('host') ?? ''
  // Whatever else is asked for is not to be written into a document; an address relative to it is right, too.
  return HOST.test(host) ? `http://${host}` : ''
}

/** A name, an address, and a port perhaps. @source RFC 9110, section 7.2 */
const HOST = /^(?:[\w.-]+|\[[\da-fA-F:.]+\])(?::\d{1,5})?$/

/** Served without a token: health is not a secret, nor are the pages, which ask for the token themselves. */
const OPEN_TO_ALL: ReadonlySet<string> = new Set([`${CONTROL_PATH}/health`])
const OPEN_PAGES: ReadonlySet<string> = new Set(Object.keys(PAGE_FILES).map((path) => CONTROL_PATH + path))
/** What people open, and link to; the first is sent on to the dashboard. */
const LINKED: ReadonlySet<string> = new Set([CONTROL_PATH, DASHBOARD_PATH, `${CONTROL_PATH}/docs`])

/** Admits requests that may use the control plane. */
async function admit(
  rules: GuardRules,
  context: Context<Env>,
  next: () => Promise<void>,
): Promise<Response | undefined> {
  const cors = corsHeaders(context, rules)
  if (context.req.method === 'OPTIONS' && cors !== undefined) return context.body(null, 204, cors)
  const { path } = context.req
  const isOpen = OPEN_TO_ALL.has(path) || (rules.token !== undefined && OPEN_PAGES.has(path))
  if (!isOpen) {
    const verdict = guard(askingOf(context), rules)
    if (verdict.kind === 'refuse') context.res = refusal('forbidden', verdict.message, verdict.status)
    else await next()
  } else await next()
  // An allowed page may also read why it was refused.
  for (const [name, value] of Object.entries(cors ?? {})) context.res.headers.set(name, value)
  return undefined
}

/** A long scenario has a few kilobytes; to check megabytes of one would keep everybody waiting. */
const LONGEST_BODY = 256_000
const DEEPEST_BODY = 100

function askingOf({ req, env }: Context<Env>): GuardedRequest {
  const { path, method } = req
  const isNavigation = req.header('sec-fetch-mode') === 'navigate' && req.header('sec-fetch-dest') === 'document'
  return {
    host: env.asker === 'owner' ? 'localhost' : req.header('host'),
    origin: req.header('origin'),
    authorization: req.header('authorization'),
    fetchSite: req.header('sec-fetch-site'),
    opensPage: isNavigation && LINKED.has(path) && (method === 'GET' || method === 'HEAD'),
  }
}

async function runVerb(plane: ControlPlane, name: VerbName, context: Context): Promise<Response> {
  const { space = '', ...query } = context.req.query()
  const inPath = context.req.param()
  const sent = await context.req.text()
  if (sent.length > LONGEST_BODY) throw new VerbError('payload_too_large', 'The body is larger than 256 kB.')
  const body = bodyOf(VERBS[name], sent)
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(inPath, name))
      throw new VerbError('invalid_request', `${name} is set by the path and cannot be changed.`)
  }
  return json(await perform(plane.sandbox, space, name, { ...query, ...body, ...inPath }))
}

function steeredBy(plane: ControlPlane, context: Context) {
  return findSpace(plane.sandbox.spaces, context.req.query('space') ?? '')
}

/** The fields of a body, or the one field that is the whole body. */
function bodyOf(verb: Verb, sent: string): Readonly<Record<string, unknown>> {
  if (sent === '') return {}
  let body: unknown
  try {
    body = parseJson(sent)
  } catch (error) {
    throw new VerbError('invalid_request', `The body is not valid JSON: ${messageOf(error)}.`)
  }
  if (isNestedDeeper(sent, DEEPEST_BODY)) {
    throw new VerbError('invalid_request', `The body is nested deeper than ${DEEPEST_BODY} levels.`)
  }
  if (verb.body !== undefined) return { [verb.body]: body }
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new VerbError('invalid_request', 'The body must be a JSON object.')
}

async function answerErrors(answer: () => Response | Promise<Response>): Promise<Response> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof VerbError) return refusal(error.code, error.message)
    throw error
  }
}

/** Routes besides the verbs. */
const READ_ONLY: readonly Pick<Verb, 'method' | 'path'>[] = [
  ...Object.keys(PAGE_FILES),
  '/health',
  '/openapi.yaml',
  '/openapi.json',
  '/control.openapi.yaml',
  '/requests/stream',
].map((path) => ({ method: 'GET', path }))

function notFound(context: Context): Response {
  const path = context.req.path.slice(CONTROL_PATH.length)
  const allow = [...(Object.values(VERBS) as readonly Verb[]), ...READ_ONLY]
    .filter((verb) => new RegExp(`^${verb.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .map(({ method }) => method)
  if (allow.length === 0) return refusal('not_found', `The control plane has no ${excerpt(path) || '/'}.`)
  const response = refusal('method_not_allowed', PROBLEMS.method_not_allowed.message)
  response.headers.set('Allow', allow.join(', '))
  return response
}

function corsHeaders(context: Context, { origins }: GuardRules): Record<string, string> | undefined {
  const origin = context.req.header('origin')
  if (origin === undefined || !origins.includes(origin)) return undefined
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Methods': 'GET, POST, PUT, PATCH, DELETE',
    'Access-Control-Allow-Headers': allowedHeaders(
      ['Authorization', 'Content-Type'],
      context.req.header('access-control-request-headers'),
    ),
    Vary: 'Origin, Access-Control-Request-Headers',
  }
}

/** A list is made while it is sent: one of all pets may be larger than all else that the sandbox holds. */
function json(value: unknown): Response {
  return text('application/json', Array.isArray(value) ? jsonList(value) : stringifyJson(value))
}

function text(contentType: string, body: string | LongBody, status = 200): Response {
  return new Response(streamOf(body), { status, headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store' } })
}

function refusal(code: ProblemCode, message: string, status: number = PROBLEMS[code].status): Response {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  if (code === 'log_unavailable') headers['Retry-After'] = '1'
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="petstore-sandbox control"'
  return new Response(errorBody(code, message, status), { status, headers })
}
