import { CONTROL_PATH } from '../src/control/path.js'
import type { Verb } from '../src/control/verb.js'
import { VERBS } from '../src/control/verbs.js'
import { NAME } from '../src/domain/keys.js'
import { errorBody } from '../src/domain/problems.js'
import { packageVersion } from '../src/system/package-files.js'
import { plainText } from './generate-methods.js'
import { asJsonSchema, type JsonSchema } from './option-schemas.js'
import { type ResponseSchemas, responseSchemas, type Schema } from './response-schemas.js'
import type { VerbTypes } from './verb-types.js'

/** The OpenAPI document of the control plane. */
export function describeControl(types: VerbTypes): object {
  const schemas = responseSchemas(types)
  const paths: Record<string, Record<string, object>> = {
    '/health': { get: HEALTH },
    '/requests/stream': { get: STREAM },
  }
  for (const [name, verb] of Object.entries<Verb>(VERBS)) {
    const method = verb.method.toLowerCase()
    paths[verb.path] = { ...paths[verb.path], [method]: describeVerb(name, verb, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Control plane of petstore-sandbox',
      version: packageVersion,
      description: 'Controls a running sandbox. Errors have the shape of the service’s own: code, message, status.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: CONTROL_PATH }],
    security: [{}, { controlToken: [] }],
    paths,
    components: {
      schemas: { ...schemas.components, Error: ERROR },
      responses: { Refused: REFUSED },
      securitySchemes: { controlToken: { type: 'http', scheme: 'bearer' } },
    },
  }
}
const SPACE = {
  name: 'space',
  in: 'query',
  description: 'Name of the space (default: the default space)',
  schema: { type: 'string', pattern: NAME.source },
}

const ERROR = {
  type: 'object',
  properties: {
    code: { type: 'string' },
    message: { type: 'string' },
    status: { type: 'integer' },
    example: { type: 'string', description: 'A valid request, if the input was invalid' },
  },
  required: ['code', 'message', 'status'],
}

const REFUSED = {
  description: 'Refused without any change',
  content: json(
    { $ref: '#/components/schemas/Error' },
    JSON.parse(
      errorBody(
        'conflict',
        'The key "team-a" already exists. Change its plan with PATCH /keys/team-a, or "control plan".',
        409,
      ),
    ),
  ),
}

const STREAM = {
  operationId: 'requests.stream',
  summary: 'Live exchanges, as server-sent events',
  parameters: [SPACE],
  responses: {
    '200': {
      description: 'Events began and ended, with an Exchange as data; verb and dropped',
      content: {
        'text/event-stream': {
          schema: { type: 'string' },
          example: 'event: verb\ndata: {"at":"2026-03-01T12:00:00.000Z","verb":"storm.stop","text":"storm stop"}\n\n',
        },
      },
    },
    ...refusals(),
  },
}

const HEALTH = {
  operationId: 'health',
  summary: 'Health and identity of the sandbox; needs no token',
  responses: {
    '200': healthResponse('healthy', 'The sandbox serves requests', {}, {}),
    '503': healthResponse(
      'degraded',
      'A replica that cannot reach its log; requests get a 503',
      { reason: { type: 'string' } },
      { reason: 'The log did not respond for 5 s.', position: 4711, lagMs: 5000 },
    ),
  },
}

function healthResponse(status: string, description: string, more: object, shown: object): object {
  const always = {
    status: { const: status },
    version: { type: 'string' },
    pid: { type: 'integer', description: 'Process ID' },
    startedAt: { type: 'string', format: 'date-time', description: 'Identifies the sandbox, together with pid' },
    ...more,
  }
  const onReplicas = {
    position: { type: 'integer', description: 'Replicas only: number of commands applied' },
    lagMs: { type: 'integer', description: 'Replicas only: round trip of an entry through the log' },
  }
  const schema = { type: 'object', properties: { ...always, ...onReplicas }, required: Object.keys(always) }
  const example = { status, version: packageVersion, pid: 4711, startedAt: '2026-03-01T12:00:00.000Z', ...shown }
  return { description, content: json(schema, example) }
}

function describeVerb(
  name: string,
  { method, path, summary, details, input, body, example = {} }: Verb,
  schemas: ResponseSchemas,
): object {
  const response = schemas.verbs[name]
  if (response === undefined) throw new Error(`${name} has no response schema.`)
  const { properties = {}, required = [] }: JsonSchema = input === undefined ? {} : asJsonSchema(input)
  const isInPath = (field: string) => path.includes(`{${field}}`)
  const others = Object.entries(properties).filter(([field]) => !isInPath(field))
  const takesBody = method !== 'GET' && method !== 'DELETE' && others.length > 0
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field)
  const given: Readonly<Record<string, unknown>> = { ...example }
  const inBody = Object.fromEntries(
    others.flatMap(([field]) => (Object.hasOwn(given, field) ? [[field, given[field]]] : [])),
  )
  const schema = {
    type: 'object',
    properties: Object.fromEntries(others),
    required: required.filter((field) => !isInPath(field)),
    additionalProperties: false,
  }
  return {
    operationId: name,
    summary,
    ...(details !== undefined && { description: plainText(details) }),
    parameters: [
      SPACE,
      ...inPath.map((field) => ({
        name: field,
        in: 'path',
        required: true,
        schema: { type: 'string' },
        example: String(given[field]),
      })),
      ...others
        .filter(([field]) => !takesBody || (body !== undefined && field !== body))
        .map(([field, schema]) => ({ name: field, in: 'query', schema })),
    ],
    ...(takesBody && {
      requestBody: {
        content: json(
          body === undefined ? schema : (properties[body] ?? {}),
          body === undefined ? inBody : given[body],
        ),
      },
    }),
    responses: { '200': { description: 'Done', content: json(response) }, ...refusals() },
  }
}

function refusals(): object {
  const refused = { $ref: '#/components/responses/Refused' }
  return { '4XX': refused, '5XX': refused }
}

function json(schema: Schema, example?: unknown): object {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}
