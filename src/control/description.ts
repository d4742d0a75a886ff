import { asJsonSchema, type JsonSchema } from '../options/json-schema.js'
import { loadYaml } from '../system/yaml.js'
import { CONTROL_PATH } from './path.js'
import type { Verb } from './verb.js'
import { VERBS } from './verbs.js'

export function describeControl(version: string): string {
  const health = operation('health', 'Health and identity of the sandbox; needs no token', [])
  const paths: Record<string, Record<string, object>> = {
    '/health': { get: { ...health, responses: HEALTH } },
    '/requests/stream': {
      get: operation('requests.stream', 'Live exchanges, as server-sent events', [SPACE]),
    },
  }
  for (const [name, verb] of Object.entries(VERBS) as readonly (readonly [string, Verb])[])
    paths[verb.path] = { ...paths[verb.path], [verb.method.toLowerCase()]: describeVerb(name, verb) }
  const description = {
    openapi: '3.1.0',
    info: {
      title: 'Control plane of petstore-sandbox',
      version,
      description: 'Controls a running sandbox. Errors have the shape of the service’s own: code, message, status.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: CONTROL_PATH }],
    security: [{}, { controlToken: [] }],
    paths,
    components: { securitySchemes: { controlToken: { type: 'http', scheme: 'bearer' } } },
  }
  // YAML aliases of the shared parameter would be hard to read.
  return loadYaml().stringify(description, { aliasDuplicateObjects: false })
}

const HEALTH = {
  '200': healthResponse('healthy', 'The sandbox serves requests', {}),
  '503': healthResponse('degraded', 'A replica that cannot reach its log; requests get a 503', {
    reason: { type: 'string' },
  }),
}

function healthResponse(status: string, description: string, more: object): object {
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
  return { description, content: { 'application/json': { schema } } }
}

const SPACE = {
  name: 'space',
  in: 'query',
  description: 'Name of the space (default: the default space)',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
}

function describeVerb(name: string, { method, path, summary, input, body }: Verb): object {
  const { properties = {}, required = [] }: JsonSchema = input === undefined ? {} : asJsonSchema(input)
  const isInPath = (field: string) => path.includes(`{${field}}`)
  const others = Object.entries(properties).filter(([field]) => !isInPath(field))
  const isOpen = input?.type === 'loose_object'
  const takesBody = method !== 'GET' && (isOpen || others.length > 0)
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field)
  const description = operation(name, summary, [
    SPACE,
    ...inPath.map((field) => ({ name: field, in: 'path', required: true, schema: { type: 'string' } })),
    ...(takesBody ? [] : others.map(([field, schema]) => ({ name: field, in: 'query', schema }))),
  ])
  if (!takesBody) return description
  const fields = {
    type: 'object',
    properties: Object.fromEntries(others),
    required: required.filter((field) => !isInPath(field)),
    additionalProperties: isOpen,
  }
  const schema = body === undefined ? fields : properties[body]
  return { ...description, requestBody: { content: { 'application/json': { schema } } } }
}

function operation(operationId: string, summary: string, parameters: readonly object[]): object {
  return {
    operationId,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { '200': { description: 'Done' }, '4XX': { description: 'Refused without any change' } },
  }
}
