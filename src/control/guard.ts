import { isLoopbackHost } from '../domain/web-origins.js'
import { digestOf } from '../system/runtime.js'

export interface GuardRules {
  /** Required bearer token. Without one, only loopback is served. */
  readonly token: string | undefined
  readonly origins: readonly string[]
}

export interface GuardRefusal {
  readonly status: 401 | 403
  readonly message: string
}

/**
 * Without a token, the Host must be loopback (a website that rebinds its name to 127.0.0.1 keeps its own Host), and an
 * Origin must be the sandbox's own or an allowed one. Browsers send no Origin with a plain GET (an `<img>`, a link),
 * but Sec-Fetch-Site shows whether another site caused it. With a token, only the token counts.
 * @param header returns a header of the request
 * @param opensPage it opens a page of the sandbox in a tab, as a link does; pages change nothing
 * @returns undefined for an accepted request
 * @source docs/control-api.md, "Control plane"; Fetch Metadata Request Headers
 */
export function guard(
  header: (name: string) => string | undefined,
  opensPage: boolean,
  { token, origins }: GuardRules,
): GuardRefusal | undefined {
  const [host, origin, fetchSite] = ['host', 'origin', 'sec-fetch-site'].map(header)
  if (token !== undefined) {
    const sent = /^bearer +(.+)$/i.exec(header('authorization') ?? '')?.[1]
    if (sent !== undefined && equalInConstantTime(sent, token)) return undefined
    const message = 'The control plane requires its token: Authorization: Bearer <control token>.'
    return { status: 401, message }
  }
  if (host === undefined || !isLoopbackHost(host)) {
    const message =
      'The control plane only accepts a loopback Host, such as 127.0.0.1 or localhost. To use another Host, start with --control-token.'
    return { status: 403, message }
  }
  const isOwn =
    origin === undefined
      ? // `none`: a typed or bookmarked address.
        fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none' || opensPage
      : origin === `http://${host}` || origins.includes(origin)
  if (isOwn) return undefined
  const message =
    'Pages of another origin may not use the control plane. Allow the origin with --control-origin, and use fetch with mode "cors".'
  return { status: 403, message }
}

/** Compares full digests, so that timing reveals neither content nor length of the token. */
function equalInConstantTime(a: string, b: string): boolean {
  const [one, other] = [digestOf(a), digestOf(b)]
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
