import type { KeyHeader } from '../contract/contract-data.js'
import type { Bytes } from './numbers.js'
import type { ProblemCode } from './problems.js'

export const UPSTREAM_WRITES = ['local', 'forward', 'refuse'] as const
export type UpstreamWrites = (typeof UPSTREAM_WRITES)[number]

/** The first id of a pet added in front of a real service: far above the service's own, and exact in a double. */
export const FIRST_LOCAL_ID = 2 ** 52

/** Longer responses are passed on unchecked, unrecorded and without local pets. */
export const MAX_READ_BODY: Bytes = 256 * 1024

export interface Forward {
  readonly kind: 'forward'
  readonly position: number
  readonly method: string
  /** Below the base path. */
  readonly target: string
  /** Flat list, without connection headers and keys. */
  readonly headers: readonly string[]
  /** Undefined if the upstream's key is used. */
  readonly authorization: string | undefined
  readonly body: Uint8Array | undefined
  /** @source RFC 9110, section 7.6.3 */
  readonly via: string
}

export interface UpstreamResponse {
  readonly kind: 'response'
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
  /** Bytes of the body, one per character. */
  readonly binary: string
}

export interface UpstreamFailure {
  readonly kind: 'failure'
  readonly problem: Extract<ProblemCode, `upstream_${string}`>
  readonly message: string
}

export interface UpstreamLeft {
  readonly kind: 'left'
  /** A write was sent and may have been carried out. */
  readonly isOpen: boolean
}

export type UpstreamOutcome = UpstreamResponse | UpstreamFailure | UpstreamLeft

/** @source RFC 9110, section 7.6.1 */
const HOP_BY_HOP = 'connection|keep-alive|proxy-[a-z-]+|te|trailer|transfer-encoding|upgrade|http2-settings'
/**
 * Request headers that are dropped: keys, headers for the sandbox, conditional and range requests, and headers that
 * browsers add for the sandbox's origin.
 */
const NOT_SENT_ON = new RegExp(
  `^(?:${HOP_BY_HOP}|host|content-length|expect|authorization|prefer|accept-encoding|if-[a-z-]+|range|cookie2?|origin|referer|sec-[a-z-]+|access-control-[a-z-]+|via|x-sandbox-reason)$`,
  'i',
)
/** Response headers that are dropped: of the connection or origin, and those that the sandbox sets. */
const NOT_PASSED_ON = new RegExp(
  `^(?:${HOP_BY_HOP}|content-length|content-encoding|content-type|date|set-cookie2?|access-control-[a-z-]+|strict-transport-security|alt-svc|clear-site-data|nel|report-to|reporting-endpoints|public-key-pins|x-ratelimit-(?:limit|remaining|reset)|x-sandbox-reason|preference-applied)$`,
  'i',
)

interface HeaderKind {
  readonly key: string
  readonly isSentOn: boolean
  readonly isPassedOn: boolean
}

const kinds = new Map<string, HeaderKind>()
const MOST_KINDS = 200

export function headerKind(name: string): HeaderKind {
  const known = kinds.get(name)
  if (known !== undefined) return known
  const key = name.toLowerCase()
  const kind = { key, isSentOn: !NOT_SENT_ON.test(key), isPassedOn: !NOT_PASSED_ON.test(key) }
  if (kinds.size >= MOST_KINDS) kinds.clear()
  kinds.set(name, kind)
  return kind
}

export function headersSentOn(headers: readonly string[], keyHeaders: readonly KeyHeader[]): readonly string[] {
  const secret = keyHeaders.map(({ name }) => name.toLowerCase())
  return those(headers, ({ key, isSentOn }) => isSentOn && !secret.includes(key))
}

export function headersPassedOn(headers: readonly string[]): readonly string[] {
  return those(headers, ({ isPassedOn }) => isPassedOn)
}

/** Also drops headers listed in Connection. */
function those(headers: readonly string[], isKept: (kind: HeaderKind) => boolean): readonly string[] {
  const kept: string[] = []
  const named: string[] = []
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    const kind = headerKind(name)
    if (isKept(kind)) kept.push(name, value)
    else if (kind.key === 'connection') for (const one of value.split(',')) named.push(one.trim().toLowerCase())
  }
  if (named.every((name) => USUAL_OPTIONS.includes(name))) return kept
  return kept.filter((_item, place) => !named.includes(headerKind(kept[place - (place % 2)] ?? '').key))
}

/** Values of Connection that are not headers. */
const USUAL_OPTIONS = ['close', 'keep-alive']
