import { jsonSchemaOf } from '../options/json-schema.js'
import { loadYaml } from '../system/yaml.js'
import { CONTROL_PATH } from './path.js'
import type { Verb } from './verb.js'
import { VERBS } from './verbs.js'

/** Describes the control plane as OpenAPI 3.1, from the table of verbs. */
export function describeControl(version: string): string {
  const paths: Record<string, Record<string, object>> = {
    '/health': {
      get: {
        ...operation('health', 'Says that the sandbox is there, and which one it is; asks for no token', []),
        responses: HEALTHY,
      },
    },
    '/requests/stream': {
      get: operation('requests.stream', 'Exchanges as they happen, as server-sent events', [spaceParameter]),
    },
  }
  for (const [name, verb] of Object.entries(VERBS) as readonly (readonly [string, Verb])[]) {
    paths[verb.path] = { ...paths[verb.path], [verb.method.toLowerCase()]: describeVerb(name, verb) }
  }
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
  // One parameter stands in many places; references of YAML to it would be hard to read.
  return loadYaml().stringify(description, { aliasDuplicateObjects: false })
}

const HEALTHY = {
  '200': {
    description: 'It is well',
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: {
            status: { const: 'healthy' },
            version: { type: 'string' },
            pid: { type: 'integer', description: 'Number of its process' },
            startedAt: {
              type: 'string',
              format: 'date-time',
              description: 'With pid it tells this sandbox from any other',
            },
          },
          required: ['status', 'version', 'pid', 'startedAt'],
        },
      },
    },
  },
}

const spaceParameter = {
  name: 'space',
  in: 'query',
  description: 'Name of the space; the default one if not given',
  schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>
  readonly required?: readonly string[]
}

function describeVerb(name: string, verb: Verb): object {
  const { properties = {}, required = [] }: ObjectSchema = verb.input === undefined ? {} : inputSchema(verb)
  const inPath = [...verb.path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => String(parameter))
  const others = Object.entries(properties).filter(([field]) => !inPath.includes(field))
  const takesBody = verb.method !== 'GET' && others.length > 0
  const parameters = [
    spaceParameter,
    ...inPath.map((field) => ({ name: field, in: 'path', required: true, schema: { type: 'string' } })),
    ...(takesBody ? [] : others.map(([field, schema]) => ({ name: field, in: 'query', schema }))),
  ]
  if (!takesBody) return operation(name, verb.summary, parameters)
  const body =
    verb.body === undefined
      ? {
          type: 'object',
          properties: Object.fromEntries(others),
          required: required.filter((field) => !inPath.includes(field)),
          additionalProperties: false,
        }
      : properties[verb.body]
  return {
    ...operation(name, verb.summary, parameters),
    requestBody: { content: { 'application/json': { schema: body } } },
  }
}

function operation(operationId: string, summary: string, parameters: readonly object[]): object {
  return {
    operationId,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: { '200': { description: 'Done' }, '4XX': { description: 'Refused; nothing was changed' } },
  }
}

/** What a client may send. */
function inputSchema({ input }: Verb): ObjectSchema {
  return input === undefined ? {} : (jsonSchemaOf(input) as ObjectSchema)
}
