import type { Operation } from '../contract/contract.js'
import type { EngineRequest } from '../contract/engine.js'
import { quote } from '../contract/excerpt.js'
import { parseInt64 } from '../contract/int64.js'
import { isNode, type Node, parseJson } from '../contract/json.js'
import { decodePercent, readPairs } from '../contract/query.js'
import type { Fields } from '../contract/schema-fields.js'

/** @source docs/specification.md, "Error": status is the HTTP status code */
export function errorViolations(status: number, body: unknown): readonly string[] {
  if (status < 400 || !isNode(body)) return []
  const violations: string[] = []
  if (typeof body.status === 'number' && body.status !== status)
    violations.push(`status is ${body.status} in the body, but the response has ${status}`)
  if (body.code === '') violations.push('code is empty in the body')
  return violations
}

/** @source docs/specification.md, "GET /pets" */
export function listViolations(
  operation: Operation,
  fields: Fields,
  { query }: EngineRequest,
  items: readonly unknown[],
): readonly string[] {
  const asked = new Map(readPairs(query))
  const violations: string[] = []
  const size = limitName(operation)
  const limit = asked.get(size)
  const { default: usual } = { default: undefined, ...parameterOf(operation, size) }
  if (limit !== undefined && /^\d+$/.test(limit) && items.length > Number(limit))
    violations.push(`${items.length} items are listed, although ${size} is ${limit}`)
  if (limit === undefined && typeof usual === 'number' && items.length > usual)
    violations.push(`${items.length} items are listed, although ${size} defaults to ${usual}`)
  for (const [name, value] of asked) {
    // A string may be a search, and a value that no item can have, such as `all`, is no filter.
    const choices = parameterOf(operation, name)?.enum && fields.get(name)?.choices
    if (!choices?.some((choice) => String(choice) === value)) continue
    const holders = items.filter((item): item is Node => isNode(item) && Object.hasOwn(item, name))
    const other = holders.find((item) => String(item[name]) !== value)
    if (other !== undefined)
      violations.push(`${name} is ${quote(String(other[name]))}, although the request is for ${value}`)
    else if (holders.length < items.length)
      violations.push(
        `${items.length - holders.length} items are listed without ${name}, although the request is for ${value}`,
      )
  }
  const seen = new Set<unknown>()
  for (const item of items) {
    if (!isNode(item) || !isId(item.id)) continue
    if (seen.has(item.id)) {
      violations.push(`the id ${quote(item.id)} is listed twice`)
      break
    }
    seen.add(item.id)
  }
  return violations
}

/** The parameter with the most records that a page has. */
export function limitName({ action }: Pick<Operation, 'action'>): string {
  return action?.query?.limit ?? 'limit'
}

/** Finds another id in the response than in the path, digit for digit. */
export function itemViolations(operation: Operation, captured: readonly string[], body: unknown): readonly string[] {
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
  const [parameter] = inPath
  // `/users/{userId}/profile` may show another id.
  const isRecord = parameter !== undefined && operation.path.endsWith(`{${parameter.name}}`)
  if (!isRecord || parameter.type !== 'integer' || inPath.length !== 1 || !isNode(body)) return []
  const asked = parseInt64(decodePercent(captured[0] ?? ''))
  // `/issues/{number}` may have an id beside the number.
  const name = Object.hasOwn(body, parameter.name) ? parameter.name : 'id'
  const own = body[name]
  if (asked === undefined || !isNumber(own) || own === asked) return []
  return [`the ${name} is ${quote(own)}, although the request is for ${asked}`]
}

export function creationViolations(
  operation: Operation,
  fields: Fields,
  sent: string,
  body: unknown,
): readonly string[] {
  const wanted = jsonOf(sent)
  if (!isNode(wanted) || !isNode(body)) return []
  const known = new Set(operation.body?.fields.map(({ name }) => name))
  return Object.entries(wanted).flatMap(([name, value]) => {
    const { writeOnly, readOnly }: Node = Object(fields.get(name)?.place.value)
    if (!known.has(name) || !fields.has(name) || name === 'id' || writeOnly || readOnly) return []
    if (!Object.hasOwn(body, name)) return [`${name} was sent, but is not in the response`]
    const answered = body[name]
    // The schema checks structured values.
    if (answered === value || typeof value === 'object' || typeof answered === 'object') return []
    return [`${name} is ${quote(answered)}, although ${quote(value)} was sent`]
  })
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

export function isId(value: unknown): value is number | bigint | string {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string'
}

function parameterOf(operation: Operation, name: string) {
  return operation.parameters.find((parameter) => parameter.in === 'query' && parameter.name === name)
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
