import { loadContract } from '../../src/openapi/load-contract.js'
import { temporaryFile } from './temporary-files.js'
import { type TestSandbox, transports } from './transports.js'

/** Parts of small OpenAPI documents. */
export type Node = Readonly<Record<string, unknown>>

const json = (schema: object, mediaType = 'application/json') => ({ content: { [mediaType]: { schema } } })
export const ok = (schema?: object, status = 200, headers?: object) => ({
  responses: { [status]: { description: 'ok', ...(headers && { headers }), ...(schema && json(schema)) } },
})
export const takes = (schema: object) => ({ requestBody: { required: true, ...json(schema) } })
export const object = (properties: Node, required: readonly string[] = [], more: Node = {}) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  ...more,
})
export const list = (items: object) => ({ type: 'array', items })
export const integer = { type: 'integer' }
export const text = { type: 'string' }
export const readOnly = (schema: object) => ({ ...schema, readOnly: true })
export const inQuery = (name: string, schema: object = integer) => ({ name, in: 'query', schema })
export const inPath = (name: string, schema: object = text) => ({ name, in: 'path', required: true, schema })

/** A sandbox that checks its own responses, and its mocked operations with the reason. */
export async function openContract(
  paths: Node,
  more: Node = {},
  options: Node = {},
): Promise<TestSandbox & { readonly mocked: Node }> {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Sample', version: '1' },
    servers: [{ url: '/v1' }],
    paths,
    ...more,
  }
  const spec = temporaryFile('contract.json', JSON.stringify(document))
  const [[, openSandbox]] = transports as [(typeof transports)[number]]
  const sandbox = await openSandbox({ spec, basePath: '/v1', strict: true, rateLimit: false, freeze: true, ...options })
  const { operations } = await loadContract(spec)
  const mocked = operations.filter(({ action }) => action === undefined)
  return { ...sandbox, mocked: Object.fromEntries(mocked.map(({ id, whyMocked }) => [id, whyMocked])) }
}

/** Paths of a resource whose operations all use one schema. */
export function crud(path: string, item: string, record: object, parameters: readonly object[], sent = record): Node {
  return {
    [path]: { post: { ...takes(sent), ...ok(record, 201) }, get: ok(list(record)) },
    [item]: { parameters, get: ok(record), delete: { responses: { 204: { description: 'gone' } } } },
  }
}

/** A request and its response: `POST /things 201`; both bodies if they matter. */
export type Turn = readonly [request: string, sent?: unknown, received?: unknown]

/** Sends the requests in order. @returns what differs from the expected responses */
export async function converse(sandbox: TestSandbox, turns: readonly Turn[]): Promise<readonly unknown[]> {
  const seen: unknown[] = []
  for (const [request, sent, received] of turns) {
    const [method = '', path = '', status = ''] = request.split(' ')
    const { status: own, json: body } = await sandbox.call(`/v1${path}`, {
      method,
      ...(sent !== undefined && { body: sent }),
    })
    seen.push([`${method} ${path} ${own}`, ...(received === undefined ? [] : [body])])
    if (String(own) !== status) break
  }
  return seen
}

export function expectedOf(turns: readonly Turn[]): readonly unknown[] {
  return turns.map(([request, , received]) => [request, ...(received === undefined ? [] : [received])])
}
