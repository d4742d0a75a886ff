import type { Place } from '../contract/document.js'
import { quote } from '../contract/excerpt.js'
import { FIELD_VALUE, TOKEN } from '../contract/sendable.js'

/** `application/json`, `text/*; charset=utf-8`. */
const MEDIA_TYPE = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+\/[!#$%&'*+\-.^_`|~\dA-Za-z]+[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/
/** @source OpenAPI specification: Responses Object */
const DOCUMENTED_STATUS = /^(?:[1-5]\d\d|[1-5]XX|default)$/i

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
