import type { Place } from './document.js'
import { quote } from './excerpt.js'

/** @source RFC 9110, section 5.6.2 */
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/
/** Latin-1 without control characters except the tab, as Node writes. @source RFC 9110, section 5.5 */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
/** `application/json`, `text/*; charset=utf-8`. */
const MEDIA_TYPE = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+\/[!#$%&'*+\-.^_`|~\dA-Za-z]+[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/
/** @source OpenAPI specification: Responses Object */
const DOCUMENTED_STATUS = /^(?:[1-5]\d\d|[1-5]XX|default)$/i

interface Sendable {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

/** Why a response cannot be sent, as a sentence part. */
export function findUnsendable({ status, headers }: Sendable): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 599) return `the status ${status} must be from 200 to 599`
  for (const [name, value] of Object.entries(headers)) {
    if (!TOKEN.test(name)) return `the header ${quote(name)} has no valid name`
    if (!FIELD_VALUE.test(value)) return `the header "${name}" cannot hold ${quote(value)}`
  }
  return undefined
}

/** @source RFC 9110, section 15.3.5; RFC 9110, section 15.3.6; RFC 9110, section 15.4.5 */
export function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304
}

/** Mocked responses are checked again when they are sent. @throws SpecError naming the place */
export function checkResponse(status: string, response: Place): void {
  if (!DOCUMENTED_STATUS.test(status))
    throw response.error('must have a status from 100 to 599, a range such as 4XX, or default as its name')
  for (const [mediaType, place] of response.entries('content')) {
    if (!MEDIA_TYPE.test(mediaType)) throw place.error('must be named by a media type such as application/json')
    const schema = place.child('schema')
    if (typeof schema?.value !== 'boolean') schema?.object()
  }
  for (const [name, header] of response.entries('headers')) {
    if (!TOKEN.test(name)) throw header.error('must be named by letters, digits and hyphens, as a header is')
    for (const place of valuesOf(header)) {
      if (!FIELD_VALUE.test(String(place.value))) throw place.error(`cannot stand in a header (${quote(place.value)})`)
    }
  }
}

function valuesOf(header: Place): readonly Place[] {
  const schema = header.child('schema')
  return [
    header.child('example'),
    ...header.entries('examples').map(([, example]) => example.child('value')),
    ...['example', 'default', 'const'].map((word) => schema?.child(word)),
    ...['enum', 'examples'].flatMap((word) => (Array.isArray(schema?.child(word)?.value) ? schema.items(word) : [])),
  ].filter((place) => place !== undefined)
}
