import { isNode, type Place } from './document.js'
import { exampleOf, exampleValue, fits } from './example-value.js'
import { stringifyJson } from './json.js'
import { type ErrorData, MESSAGE } from './resource-data.js'
import { type RecordField, readRecordFields } from './schema-fields.js'

/**
 * The documented errors that have an example, or that have another shape than the errors of the service. The service's own
 * 400 names the violations, unlike an example.
 */
export function readErrors(operation: Place): readonly ErrorData[] {
  const documented = operation.children('responses')
  return (['400', '404', '409'] as const).flatMap((status) => {
    const [, response] =
      documented.find(([name]) => name === status) ?? documented.find(([name]) => /^4XX$/i.test(name)) ?? []
    if (response === undefined) return []
    const [contentType, content] = response.children('content').find(([name]) => /\bjson\b/i.test(name)) ?? []
    if (contentType === undefined || content === undefined) return []
    const schema = content.child('schema')
    const own = ['code', 'message', 'status']
    const isOwnShape =
      /^application\/json/i.test(contentType) &&
      schema !== undefined &&
      isCode(readRecordFields(schema).get('code'), ERRORS[status].code) &&
      [...readRecordFields(schema)].every(([name, { required }]) => !required || own.includes(name))
    if (isOwnShape && status === '400') return []
    const value = exampleOf(content) ?? (isOwnShape || schema === undefined ? undefined : exampleError(schema, status))
    return value === undefined ? [] : [{ status: Number(status), contentType, body: stringifyJson(value) }]
  })
}

const ERRORS = {
  400: { code: 'invalid_request', sentence: MESSAGE },
  404: { code: 'not_found', sentence: 'Not found' },
  409: { code: 'conflict', sentence: MESSAGE },
}

function isCode(field: RecordField | undefined, code: string): boolean {
  return field?.type === 'string' && field.places.every((place) => fits(code, place))
}

/** The simplest error of a schema, with a sentence where it has a place for one. */
function exampleError(schema: Place, status: '400' | '404' | '409'): unknown {
  const value = exampleValue(schema)
  if (!isNode(value)) return value
  const { code, sentence } = ERRORS[status]
  const texts = [...readRecordFields(schema)].flatMap(([name, { place, type, required }]) => {
    const isText = type === 'string' && exampleValue(place) === ''
    if (name === 'status' && type === 'integer') return [[name, Number(status)]]
    if (isText && name === 'code') return [[name, code]]
    return isText && (required || /^(message|detail|title|error)$/.test(name)) ? [[name, sentence]] : []
  })
  return { ...value, ...Object.fromEntries(texts) }
}
