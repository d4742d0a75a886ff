import type { LimitHeader } from '../contract/contract-data.js'
import type { Place } from '../contract/document.js'
import { exampleOf } from '../contract/example-value.js'
import { typeOf } from '../contract/schema-fields.js'

const LIMIT = /^(?:x-)?rate-?limit-(.+)$/i
const PARTS: readonly (readonly [RegExp, LimitHeader['shows']])[] = [
  [/^(?:limit|quota|max|total)$/i, 'limit'],
  [/^(?:remaining|left|available)$/i, 'remaining'],
  [/^reset(?:-?(?:after|at|in|ms|seconds))*$/i, 'reset'],
]
const RETRY = /^(?:x-)?retry-after-ms$/i
/** Names that the sandbox sends itself, in their own form. */
const OWN = /^x-ratelimit-(?:limit|remaining)$/i

/** Each header of the responses that shows a limit, by its name and its schema. @source docs/spec.md, "Headers of limits" */
export function readLimitHeaders(operation: Place): readonly LimitHeader[] {
  const found = new Map<string, LimitHeader>()
  for (const [, response] of operation.children('responses'))
    for (const [name, header] of response.entries('headers')) {
      const [, part = ''] = LIMIT.exec(name) ?? []
      const shows = RETRY.test(name) ? 'retry' : PARTS.find(([pattern]) => pattern.test(part))?.[1]
      if (shows !== undefined) {
        const form = formOf(name, header)
        const isOwn = OWN.test(name) || (/^x-ratelimit-reset$/i.test(name) && form === 'epoch')
        found.set(name.toLowerCase(), { name, shows, form, ...(isOwn && { isOwn }) })
      }
    }
  return [...found.values()]
}

/** The first that fits: what its schema says, its example, its name and description; else as the sandbox's own. */
function formOf(name: string, header: Place): LimitHeader['form'] {
  const schema = header.child('schema')
  const format = schema?.string('format') ?? ''
  const example = String(exampleOf(header) ?? (schema && exampleOf(schema)) ?? '')
  const words = `${name} ${header.string('description') ?? ''} ${schema?.string('description') ?? ''}`
  const isText = schema !== undefined && typeOf(schema) === 'string'
  if (format === 'date-time' || /^\d{4}-\d\d-\d\dT/.test(example)) return 'iso-date'
  if (/http-?date|rfc-?(?:1123|7231)/i.test(format) || /^[A-Z][a-z]{2}, \d/.test(example)) return 'http-date'
  if (format === 'duration' || /^P/.test(example)) return 'duration'
  const isMs = /millisecond|[-_]ms\b/i.test(words) || /^\d{13}$/.test(example)
  if (/^\d{10}$|^\d{13}$/.test(example) || /epoch|unix|timestamp/i.test(words)) return isMs ? 'epoch-ms' : 'epoch'
  const isWait = /^\d{1,8}$/.test(example) || /seconds?|until|remaining|\bin\b|wait|after/i.test(words)
  if (isMs) return 'wait-ms'
  if (isText && /date|time at/i.test(words) && example === '') return 'http-date'
  return isWait ? 'wait' : /^x-rate-?limit-/i.test(name) ? 'epoch' : 'wait'
}
