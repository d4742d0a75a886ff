import type { KeyHeader, OtherKey } from '../contract/contract-data.js'
import type { ProblemCode } from './problems.js'

export const UPSTREAM_WRITES = ['refuse', 'forward'] as const
export type UpstreamWrites = (typeof UPSTREAM_WRITES)[number]

/** The real service that a sandbox is a proxy to. */
export interface Upstream {
  readonly baseUrl: string
  /** It has its own key, which replaces the sandbox's keys. */
  readonly hasKey: boolean
  readonly writes: UpstreamWrites
  /** Masked in everything that is kept. */
  readonly secrets: readonly string[]
  /** Sends a request, and reads the whole response. Never rejects. @param left aborted when the client has left */
  send(request: UpstreamRequest, left?: AbortSignal): Promise<UpstreamOutcome>
  close(): Promise<void>
}

export interface UpstreamRequest {
  readonly method: string
  /** Below the base path. */
  readonly target: string
  /** Flat list, without connection headers and keys. */
  readonly headers: readonly string[]
  /** The client sent a key of the sandbox, which the key of the real service replaces. */
  readonly isKnown: boolean
  /** With a key that the sandbox does not know, which is sent on. */
  readonly authorization: string | undefined
  /** Where the key goes, if not into a header of the contract, and the client's Authorization header. */
  readonly keyPlace?: OtherKey | undefined
  readonly credentials?: string | undefined
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

/** Names of headers, and of those of one connection. Marked as pure, because pages never call it. @source RFC 9110, section 7.6.1 */
function namesOf(pattern: string): RegExp {
  const hopByHop = 'connection|keep-alive|proxy-[a-z-]+|te|trailer|transfer-encoding|upgrade|http2-settings'
  return new RegExp(`^(?:${hopByHop}|${pattern})$`, 'i')
}

/**
 * Request headers that are dropped: keys, headers for the sandbox, conditional and range requests, and headers that
 * browsers add for the sandbox's origin.
 */
const NOT_SENT_ON = /* @__PURE__ */ namesOf(
  'host|content-length|expect|authorization|prefer|accept-encoding|if-[a-z-]+|range|cookie2?|origin|referer|sec-[a-z-]+|access-control-[a-z-]+|via|x-sandbox-(?:reason|client)',
)
/** Response headers that are dropped: of the connection or origin, and those that the sandbox sets. */
const NOT_PASSED_ON = /* @__PURE__ */ namesOf(
  'content-length|content-encoding|content-type|x-content-type-options|date|set-cookie2?|access-control-[a-z-]+|strict-transport-security|alt-svc|clear-site-data|nel|report-to|reporting-endpoints|public-key-pins|x-ratelimit-(?:limit|remaining|reset)|x-sandbox-reason|preference-applied',
)

export function headersSentOn(headers: readonly string[], keyHeaders: readonly KeyHeader[]): readonly string[] {
  const secret = keyHeaders.map(({ name }) => name.toLowerCase())
  return filterHeaders(headers, (name) => !NOT_SENT_ON.test(name) && !secret.includes(name))
}

export function headersPassedOn(headers: readonly string[]): readonly string[] {
  return filterHeaders(headers, (name) => !NOT_PASSED_ON.test(name))
}

/** Also drops headers listed in Connection. */
function filterHeaders(headers: readonly string[], isKept: (name: string) => boolean): readonly string[] {
  const pairs: (readonly [name: string, value: string])[] = []
  for (let i = 0; i < headers.length; i += 2) pairs.push([headers[i] ?? '', headers[i + 1] ?? ''])
  const ofConnection = new Set(
    pairs
      .filter(([name]) => name.toLowerCase() === 'connection')
      .flatMap(([, value]) => value.split(',').map((option) => option.trim().toLowerCase())),
  )
  return pairs.filter(([name]) => isKept(name.toLowerCase()) && !ofConnection.has(name.toLowerCase())).flat()
}
