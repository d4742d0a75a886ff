import { digestOf } from '../system/digest.js'

/** Who may use the control plane. */
export interface GuardRules {
  /** Required bearer token; without one, only loopback is served. */
  readonly token: string | undefined
  /** Web origins that may use it besides its own. */
  readonly origins: readonly string[]
}

/** The headers that decide; undefined if missing. */
export interface GuardedRequest {
  readonly host: string | undefined
  readonly origin: string | undefined
  readonly authorization: string | undefined
  /** What a browser says of where the request comes from (Sec-Fetch-Site); other clients send none. */
  readonly fetchSite: string | undefined
  /** It opens a page of the sandbox in a tab of its own, as a link does; pages change nothing. */
  readonly opensPage: boolean
}

export type GuardVerdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'refuse'; readonly status: 401 | 403; readonly message: string }

/** Host names of this machine that no other site can claim, with any port. `.localhost` is reserved: RFC 6761, 6.3 */
const LOOPBACK_HOST = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * Decides whether the control plane answers a request.
 *
 * Without a token, the Host must be loopback (a website that rebinds its name
 * to 127.0.0.1 keeps its own Host) and an Origin must be the sandbox's own or
 * an allowed one. A browser sends no Origin with a plain GET (an `<img>`, a
 * link), but says whether another site is behind it. With a token, the token
 * alone decides.
 *
 * @source docs/control-api.md, "Control plane"; Fetch Metadata Request Headers
 */
export function guard(request: GuardedRequest, rules: GuardRules): GuardVerdict {
  const { host, origin, authorization } = request
  if (rules.token !== undefined) {
    const sent = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]
    if (sent !== undefined && equalInConstantTime(sent, rules.token)) return { kind: 'pass' }
    return {
      kind: 'refuse',
      status: 401,
      message: 'The control plane requires its token: Authorization: Bearer <control token>.',
    }
  }
  if (host === undefined || !LOOPBACK_HOST.test(host)) {
    return {
      kind: 'refuse',
      status: 403,
      message:
        'The control plane answers only to a loopback Host, such as 127.0.0.1 or localhost. For others, start with --control-token.',
    }
  }
  const isAllowed =
    origin === undefined ? isOwnDoing(request) : origin === `http://${host}` || rules.origins.includes(origin)
  if (isAllowed) return { kind: 'pass' }
  return {
    kind: 'refuse',
    status: 403,
    message:
      'Pages of another origin may not steer or read the sandbox. Allow one with --control-origin, and let it ask with fetch in the mode "cors".',
  }
}

/** Nobody else's page is behind it: `none` is an address that was typed or bookmarked, no header a client that is no browser. */
function isOwnDoing({ fetchSite, opensPage }: GuardedRequest): boolean {
  return fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none' || opensPage
}

/** Compares digests, in full, so that timing reveals neither the content nor the length of the token. */
function equalInConstantTime(a: string, b: string): boolean {
  const [one, other] = [digestOf(a), digestOf(b)]
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
