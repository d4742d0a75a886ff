import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { stringifyJson } from '../contract/json.js'
import { errorBody, PROBLEMS, type ProblemCode } from '../domain/problems.js'
import { writeIssues } from '../options/problem.js'
import { isSpaceName } from '../space/authorization.js'
import type { Spaces } from '../space/spaces.js'
import type { World } from '../space/world.js'
import { type GuardRules, guard } from './guard.js'
import { type Steered, type Verb, VerbError } from './verb.js'
import { VERBS } from './verbs.js'

/** Where the control plane is, on every sandbox. */
export const CONTROL_PATH = '/__sandbox'

export interface ControlPlane {
  readonly spaces: Spaces
  readonly version: string
  readonly rules: GuardRules
  warn(message: string): void
}

/**
 * Makes the control plane: one route for each verb of the table, and health.
 * Never rate limited, faulted or delayed.
 *
 * @source interface, section 3
 */
export function controlRoutes(plane: ControlPlane): Hono {
  const app = new Hono().basePath(CONTROL_PATH)
  app.use(async (context, next) => {
    const cors = corsHeaders(context, plane.rules)
    if (context.req.method === 'OPTIONS' && cors !== undefined) return context.body(null, 204, cors)
    if (context.req.path !== `${CONTROL_PATH}/health`) {
      const verdict = guard(
        {
          host: context.req.header('host'),
          origin: context.req.header('origin'),
          authorization: context.req.header('authorization'),
        },
        plane.rules,
      )
      if (verdict.kind === 'refuse') return refusal('forbidden', verdict.message, verdict.status)
    }
    await next()
    for (const [name, value] of Object.entries(cors ?? {})) context.res.headers.set(name, value)
  })
  app.get('/health', () => json({ status: 'healthy', version: plane.version }))
  for (const verb of Object.values(VERBS) as readonly Verb[]) {
    app.on(verb.method, verb.path, (context) => runVerb(plane, verb, context))
  }
  app.notFound((context) => notFound(context))
  app.onError((error) => {
    plane.warn(`The control plane failed: ${error.stack ?? error.message}`)
    return refusal('internal_error', PROBLEMS.internal_error.message)
  })
  return app
}

async function runVerb(plane: ControlPlane, verb: Verb, context: Context): Promise<Response> {
  try {
    const steered = findSpace(plane.spaces, context.req.query('space') ?? '')
    const input = verb.input === undefined ? undefined : checkInput(verb, await context.req.text())
    return json((await verb.run(steered, input)) ?? { ok: true })
  } catch (error) {
    if (error instanceof VerbError) return refusal(error.code, error.message)
    throw error
  }
}

function findSpace(spaces: Spaces, name: string): Steered {
  if (name !== '' && !isSpaceName(name)) {
    throw new VerbError('invalid_request', `"${name}" is no name of a space. Use 1 to 64 of A-Z a-z 0-9 . _ -`)
  }
  const world: World | undefined = spaces.open(name)
  if (world === undefined) throw new VerbError('too_many_spaces', spaces.fullMessage())
  return { world, spaces }
}

/** Checks a JSON body against the verb's shape; every problem is named at once. */
function checkInput({ input }: Verb, text: string): unknown {
  let body: unknown
  try {
    body = text === '' ? {} : JSON.parse(text)
  } catch (error) {
    throw new VerbError('invalid_request', `The body is no JSON: ${error instanceof Error ? error.message : error}.`)
  }
  if (input === undefined) return undefined
  const result = v.safeParse(input, body)
  if (result.success) return result.output
  const problems = writeIssues(result.issues, (path) => path.join('.') || 'The body')
  throw new VerbError('invalid_request', `${problems.join('; ')}.`)
}

function notFound(context: Context): Response {
  const path = context.req.path.slice(CONTROL_PATH.length)
  const allow = (Object.values(VERBS) as readonly Verb[])
    .filter((verb) => verb.path === path)
    .map(({ method }) => method)
  if (allow.length === 0) return refusal('not_found', `The control plane has no ${path || '/'}.`)
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
    'Access-Control-Allow-Headers': 'Authorization, Content-Type',
    Vary: 'Origin',
  }
}

function json(value: unknown): Response {
  return new Response(stringifyJson(value), {
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
  })
}

function refusal(code: ProblemCode, message: string, status: number = PROBLEMS[code].status): Response {
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer realm="petstore-sandbox control"'
  return new Response(errorBody(code, message, status), { status, headers })
}
