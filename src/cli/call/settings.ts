import { type Header, readHeader } from '../../client/headers.js'
import { RequestError } from '../../client/request-error.js'
import { type Bytes, MIB, parseSize } from '../../domain/size.js'
import { type DurationMs, HOUR_MS, parseDuration, SECOND_MS } from '../../domain/time.js'
import type { GivenFlags, OutputFormat } from './own-flags.js'
import { OUTPUTS } from './own-flags.js'

/** What the flags of `call` say, read and checked. */
export interface CallSettings {
  readonly output: OutputFormat
  readonly headers: readonly Header[]
  readonly retries: number
  readonly maxWait: DurationMs
  readonly timeout: DurationMs
  readonly maxBody: Bytes
}

const DEFAULT_RETRIES = 2
const MOST_RETRIES = 100
const DEFAULT_MAX_WAIT_MS: DurationMs = 60 * SECOND_MS
const DEFAULT_TIMEOUT_MS: DurationMs = 30 * SECOND_MS
/** Far more than any documented answer; what is endless must not fill the memory. */
const DEFAULT_MAX_BODY: Bytes = 64 * MIB
/** What is read becomes a text, too, and Node's end at 512 MiB. */
const LARGEST_MAX_BODY: Bytes = 256 * MIB
/** Timers of Node end at 24 days. */
const LONGEST_MS: DurationMs = 24 * HOUR_MS

/** @throws RequestError naming every flag that cannot be used */
export function readSettings(given: GivenFlags): CallSettings {
  const problems: string[] = []
  const duration = (name: 'retry-max-wait' | 'timeout', fallback: DurationMs, least: DurationMs) => {
    const text = given.text(name)
    const value = text === undefined ? fallback : parseDuration(text)
    if (value !== undefined && value >= least && value <= LONGEST_MS) return value
    const form = 'a whole number with a unit, for example 500ms, 30s or 5m, and at most 24h'
    problems.push(`--${name} ${JSON.stringify(text)}: must be ${form}`)
    return fallback
  }
  const retry = given.text('retry') ?? String(DEFAULT_RETRIES)
  if (!/^\d{1,3}$/.test(retry) || Number(retry) > MOST_RETRIES) {
    problems.push(`--retry ${JSON.stringify(retry)}: must be a whole number from 0 to ${MOST_RETRIES}`)
  }
  const maxBody = readMaxBody(given.text('max-body'), problems)
  const headers = given.list('header').flatMap((text) => {
    const header = readHeader(text)
    // The value may be a secret, and is not shown.
    if (header === undefined) problems.push('--header: must be written "Name: value"')
    return header === undefined ? [] : [header]
  })
  const settings = {
    output: OUTPUTS.find((format) => format === given.text('output')) ?? 'auto',
    headers,
    retries: Number(retry),
    maxWait: duration('retry-max-wait', DEFAULT_MAX_WAIT_MS, 0),
    timeout: duration('timeout', DEFAULT_TIMEOUT_MS, 1),
    maxBody,
  }
  if (problems.length > 0) throw new RequestError('INVALID_FLAG', problems)
  return settings
}

function readMaxBody(text: string | undefined, problems: string[]): Bytes {
  const size = text === undefined ? DEFAULT_MAX_BODY : parseSize(text)
  if (size !== undefined && size <= LARGEST_MAX_BODY) return size
  const form = 'a whole number with a unit, for example 512KiB or 64MiB, and at most 256MiB'
  problems.push(`--max-body ${JSON.stringify(text)}: must be ${form}`)
  return DEFAULT_MAX_BODY
}
