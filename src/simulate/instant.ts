import type { EpochMs } from '../domain/time.js'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/i

/** Reads a date with its time, ISO 8601; one without a zone is in UTC. Undefined for anything else. */
export function readIsoInstant(text: unknown): EpochMs | undefined {
  if (typeof text !== 'string') return undefined
  const match = DATE_TIME.exec(text)
  if (match === null) return undefined
  const at = Date.parse(match[1] === undefined ? `${text}Z` : text)
  return Number.isNaN(at) ? undefined : at
}
