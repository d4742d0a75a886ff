import { type ParseResult, textSchema } from './reading.js'

const BASE_PATH_FORM = 'must begin with / and end in a version segment, for example /v1 or /api/v2, outside /__sandbox'
const BASE_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/v\d+$/

/** Reads the path under which the service is. */
export function readBasePath(text: string): ParseResult<string> {
  const segments = text.split('/').slice(1)
  const fits = BASE_PATH.test(text) && !segments.some((segment) => segment === '.' || segment === '..')
  return fits && segments[0] !== '__sandbox' ? { value: text } : { problem: BASE_PATH_FORM }
}

export const basePathSchema = textSchema(BASE_PATH_FORM, readBasePath)
