import { digestOf } from '../system/digest.js'

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
  /** `Sec-Fetch-Site`, which only browsers send. */
  readonly fetchSite: string | undefined
  /** It opens a page of the sandbox in its own tab, as a link does; pages change nothing. */
  readonly opensPage: boolean
}

export interface GuardRefusal {
  readonly status: 401 | 403
  readonly message: string
}

/** Host names of this machine that no website can claim, with any port. `.localhost` is reserved: RFC 6761, 6.3 */
const LOOPBACK_HOST = /^(?:localhost|(?:[a-z0-9-]+\.)+localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i

/**
 * Decides whether the control plane accepts a request.
 *
 * Without a token, the Host must be loopback (a website that rebinds its name to 127.0.0.1 keeps its own Host) and an
 * Origin must be the sandbox's own or an allowed one. A browser sends no Origin with a plain GET (an `<img>`, a link),
 * but Sec-Fetch-Site tells whether another site is behind it. With a token, only the token decides.
 *
 * @returns undefined if it accepts the request
 * @source docs/control-api.md, "Control plane"; Fetch Metadata Request Headers
 */
export function guard(request: GuardedRequest, { token, origins }: GuardRules): GuardRefusal | undefined {
  const { host, origin, authorization, fetchSite, opensPage } = request
  if (token !== undefined) {
    const sent = /^bearer +(.+)$/i.exec(authorization ?? '')?.[1]
    if (sent !== undefined && equalInConstantTime(sent, token)) return undefined
    const message = 'The control plane requires its token: Authorization: Bearer <control token>.'
    return { status: 401, message }
  }
  if (host === undefined || !LOOPBACK_HOST.test(host)) {
    const message =
      'The control plane answers only to a loopback Host, such as 127.0.0.1 or localhost. For others, start with --control-token.'
    return { status: 403, message }
  }
  const isOwn =
    origin === undefined
      ? // `none` is an address that was typed or bookmarked.
        fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none' || opensPage
      : origin === `http://${host}` || origins.includes(origin)
  if (isOwn) return undefined
  const message =
    'Pages of another origin may not steer or read the sandbox. Allow one with --control-origin, and let it ask with fetch in the mode "cors".'
  return { status: 403, message }
}

/** Compares digests, in full, so that timing reveals neither the content nor the length of the token. */
function equalInConstantTime(a: string, b: string): boolean {
  const [one, other] = [digestOf(a), digestOf(b)]
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
