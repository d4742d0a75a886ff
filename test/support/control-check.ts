import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { description } from '../../src/control/generated/description.js'

export interface ControlOperation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>

interface ControlDocument {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, ControlOperation>>>>
  readonly components: { readonly responses: Readonly<Record<string, { readonly content: Content }>> }
}

export const controlDocument = description as ControlDocument

const ajv = new Ajv2020({ strict: false, formats: { int64: true, 'date-time': true } })
ajv.addSchema(closed(controlDocument) as object, 'control')

const routes = Object.entries(controlDocument.paths).map(([path, operations]) => ({
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  path,
  operations,
}))
const validators = new Map<string, ValidateFunction>()

/** @param path below the control plane @returns violations of the control plane's description */
export function controlViolations(method: string, path: string, status: number, body: unknown): readonly string[] {
  const [bare = ''] = path.split('?')
  const verb = method.toLowerCase()
  const route = routes.find(({ pattern, operations }) => pattern.test(bare) && operations[verb] !== undefined)
  const operation = route?.operations[verb]
  if (route === undefined || operation === undefined) return []
  const range = status in operation.responses ? String(status) : `${String(status)[0]}XX`
  const at = operation.responses[range]?.$ref?.slice(2).split('/') ?? ['paths', route.path, verb, 'responses', range]
  const validate = validatorAt([...at, 'content', 'application/json', 'schema'])
  if (validate(body)) return []
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  )
}

function validatorAt(path: readonly string[]): ValidateFunction {
  const pointer = path.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const known = validators.get(pointer) ?? ajv.compile({ $ref: `control#/${pointer}` })
  validators.set(pointer, known)
  return known
}

/** Without other properties than those described, so that the description is complete. */
function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed)
  if (typeof part !== 'object' || part === null) return part
  const copy = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closed(member)]))
  const isClosed = typeof copy.properties === 'object' && copy.type === 'object' && !('additionalProperties' in copy)
  return isClosed ? { ...copy, additionalProperties: false } : copy
}
