import { readFileSync } from 'node:fs'
import type { ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse } from 'yaml'
import { openapiFile } from '../../src/system/package-files.js'

interface ResponseObject {
  readonly headers?: Readonly<Record<string, { readonly $ref?: string; readonly required?: boolean }>>
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>
  readonly $ref?: string
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Record<string, ResponseObject> }>>>
  >
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

const document: Document = parse(readFileSync(openapiFile, 'utf8'))
const ajv = new Ajv2020({ strict: false, formats: { int64: true } })
ajv.addSchema(document, 'openapi')

/** Not in the contract: requests outside it, and a full sandbox. */
const OUTSIDE_STATUSES = [405, 413, 415, 503, 507]

export interface SeenResponse {
  readonly method: string
  /** Relative to the base path, without the query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * @param leftOut headers removed by a switch
 * @returns violations of openapi.yaml
 */
export function violations(
  { method, path, status, headers, text }: SeenResponse,
  leftOut: readonly string[] = [],
): string[] {
  const responses = responsesOf(method, path)
  if (responses === undefined || OUTSIDE_STATUSES.includes(status)) return []
  if (headers.get('x-sandbox-reason') === 'fault' && status !== 429) return []
  const response = resolve(responses[String(status)])
  if (response === undefined) return headers.has('x-sandbox-reason') ? [] : [`status ${status} is not documented`]
  const missing = Object.entries(response.headers ?? {})
    .filter(([name, header]) => resolve(header)?.required && !headers.has(name) && !leftOut.includes(name))
    .map(([name]) => `the header ${name} is missing`)
  const isJson = headers.get('content-type')?.startsWith('application/json')
  const schema = isJson ? response.content?.['application/json']?.schema : undefined
  if (method === 'HEAD' || text === '' || schema === undefined) return missing
  const validate = validatorOf(schema)
  return validate(JSON.parse(text))
    ? missing
    : [...missing, `the body breaks its schema: ${ajv.errorsText(validate.errors)}`]
}

const validators = new WeakMap<object, ValidateFunction>()

/** Cached, because compiling a schema is slow. */
function validatorOf(schema: object): ValidateFunction {
  const inDocument = () => JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'))
  const validate = validators.get(schema) ?? ajv.compile(inDocument())
  validators.set(schema, validate)
  return validate
}

function resolve<T extends { readonly $ref?: string }>(object: T | undefined): T | undefined {
  if (object?.$ref === undefined) return object
  const [, , kind = '', name = ''] = object.$ref.split('/')
  return document.components[kind]?.[name] as T | undefined
}

function responsesOf(method: string, path: string): Record<string, ResponseObject> | undefined {
  for (const [template, item] of Object.entries(document.paths)) {
    const pattern = new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`)
    if (pattern.test(path)) return item[method === 'HEAD' ? 'get' : method.toLowerCase()]?.responses
  }
  return undefined
}
