import type { Operation, Values } from '../contract/contract.js'
import { BEARER } from '../contract/contract-data.js'
import { isNode, parseShallowJson, stringifyJson } from '../contract/json.js'
import { isNamedLogin, isToken } from '../contract/login-names.js'
import { loginJwt, loginToken, readLogin } from '../domain/login-tokens.js'
import type { HandlerResult } from '../domain/messages.js'
import { ceilSeconds, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../domain/time.js'
import { hasEnded } from './callers.js'
import type { RequestContext } from './request-context.js'
import { challengeFor, problem } from './responses.js'

const EXPIRES_IN = /^expires_?in$/i
const EXPIRES_AT = /^(?:(?:access|refresh|auth)?_?token_?)?expir(?:es?|ation|y)(?:_?(?:at|on|date|time))?$/i
const INSTANT = /^\d{4}-\d\d-\d\dT/
/** Smaller numbers are durations. */
const LEAST_EPOCH_S = 1e8
const LEAST_EPOCH_MS = 1e11
const TOKEN_TYPE = /^token_?type$/i
/** Of a text without an example. */
const MADE_UP = 'string'
const DEFAULT_LIFETIME_S = HOUR_MS / SECOND_MS
/** A smaller `expires_in` is made up: the least that the schema allows. */
const MIN_LIFETIME_S = MINUTE_MS / SECOND_MS
const REFRESH = /^refresh/i
const REFRESH_LIFETIME_S = (30 * DAY_MS) / SECOND_MS
/** Of an envelope: `{ data: { tokens: { access_token } } }`. */
const MAX_DEPTH = 3
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/

/**
 * A response of an operation without a key that has a token: with one that works. @source docs/spec.md, "Logins"
 * @param sent the body of a request that creates a record: a token in it is the client's
 */
export function withLogin(
  { space, now }: RequestContext,
  operation: Operation,
  given: HandlerResult,
  sent: Values = {},
): HandlerResult {
  const { contract, hasLogins } = space.shared
  const isPossible = hasLogins && operation.isPublic === true && contract.operations.some((item) => !item.isPublic)
  if (!isPossible || given.status > 299 || typeof given.body !== 'string') return given
  const n = space.state.logins.issued + 1
  const mocked = isJson(given) ? parseShallowJson(given.body) : undefined
  const lifetime = findLifetime(mocked) ?? DEFAULT_LIFETIME_S
  let isIssued = false
  const makeToken = (isJwt: boolean, seconds = lifetime) => {
    isIssued = true
    return (isJwt ? loginJwt : loginToken)(n, space.name, ceilSeconds(now) + seconds)
  }
  const secondsOf = (name: string) => (REFRESH.test(name) ? REFRESH_LIFETIME_S : lifetime)
  const filled = (value: unknown, depth = 0): unknown => {
    if (typeof value === 'string' && depth === 0 && isNamedLogin(operation)) return makeToken(contract.hasJwt === true)
    if (!isNode(value) || depth > MAX_DEPTH) return value
    const entries = Object.entries(value).map(([name, field]): [string, unknown] => {
      if (isToken(name, operation) && typeof field === 'string' && !hasName(sent, name)) {
        const isJwt = contract.hasJwt === true || JWT.test(field) || /^(?:jwt|id_?token)$/i.test(name)
        return [name, makeToken(isJwt, secondsOf(name))]
      }
      if (TOKEN_TYPE.test(name) && field === MADE_UP) return [name, 'bearer']
      if (EXPIRES_IN.test(name) && typeof field === 'number') return [name, lifetime]
      if (EXPIRES_AT.test(name)) return [name, instantLike(field, now + secondsOf(name) * SECOND_MS)]
      return [name, filled(field, depth + 1)]
    })
    return Object.fromEntries(entries)
  }
  const body = filled(mocked)
  const cookies = (contract.otherKeys ?? []).filter((place) => place.in === 'cookie').map(({ name }) => name)
  const headers = given.headers?.map((item, index, all) => {
    if (index % 2 === 0) return item
    const header = String(all[index - 1]).toLowerCase()
    const own = [...contract.keyHeaders, BEARER].find(({ name }) => name.toLowerCase() === header)
    if (own !== undefined) return own.prefix + makeToken(contract.hasJwt === true)
    if (header !== 'set-cookie' || cookies[0] === undefined) return item
    return `${cookies[0]}=${makeToken(false)}; Path=/; HttpOnly`
  })
  if (!isIssued) return given
  space.commit({ logins: { ...space.state.logins, issued: n } })
  return { ...given, ...(headers && { headers }), ...(body !== undefined && { body: stringifyJson(body) }) }
}

/** The end of a path. */
const LOGOUT = /[/:._-](?:log|sign)[-_]?out\/?$/i
/** The path of the client's session, and not of another, such as `/checkout/session`. */
const SESSION =
  /^(?:\/(?:api|v\d+|auth|oauth2?|users?|me|account))*\/(?:sessions?|tokens?|auth)(?:\/(?:current|me|self))?\/?$/i
const MAX_CLOSED = 1_000

/** A response after which the login of the request's token is over. @source docs/spec.md, "Logins" */
export function withLogout(
  { space, caller }: RequestContext,
  operation: Operation,
  given: HandlerResult,
): HandlerResult {
  const { method, path } = operation
  const login = caller.kind === 'key' ? caller.login : undefined
  if (login === undefined || given.status >= 400 || path.includes('{')) return given
  const isLoginPath = () => space.shared.contract.operations.some((one) => one.isLogin && one.path === path)
  const isLogout = LOGOUT.test(path) || (method === 'DELETE' && (SESSION.test(path) || isLoginPath()))
  if (!isLogout) return given
  const { logins } = space.state
  space.commit({ logins: { ...logins, closed: [...(logins.closed ?? []), login].slice(-MAX_CLOSED) } })
  return given
}

/** At any depth: records may be in envelopes. */
function hasName(value: unknown, name: string, depth = 0): boolean {
  if (!isNode(value) || depth > MAX_DEPTH) return false
  return Object.hasOwn(value, name) || Object.values(value).some((inner) => hasName(inner, name, depth + 1))
}

/** The refusal of a refresh token that has ended. Tokens of others are not checked. @source docs/spec.md, "Logins" */
export function endedRefresh(
  { space, now, readings, route }: RequestContext,
  { isPublic, responses }: Operation,
): HandlerResult | undefined {
  if (!space.shared.hasLogins || isPublic !== true) return undefined
  const ended = Object.entries(readings?.body?.values ?? {}).some(([name, value]) => {
    const login = REFRESH.test(name) ? readLogin(String(value)) : undefined
    return login !== undefined && hasEnded(space, login, now)
  })
  const status = responses.has(400) && !responses.has(401) ? 400 : 401
  const message = 'The refresh token has ended.'
  return ended ? problem('invalid_api_key', { status, message, challenge: challengeFor({ space, route }) }) : undefined
}

/** An instant in the form of a documented one: a text, or seconds or milliseconds since the epoch. */
function instantLike(field: unknown, instant: number): unknown {
  if (typeof field === 'string' && INSTANT.test(field)) return new Date(instant).toISOString()
  if (typeof field !== 'number' || field < LEAST_EPOCH_S) return field
  return field < LEAST_EPOCH_MS ? ceilSeconds(instant) : instant
}

/** Seconds in an example of the contract. */
function findLifetime(value: unknown, depth = 0): number | undefined {
  if (!isNode(value) || depth > MAX_DEPTH) return undefined
  for (const [name, field] of Object.entries(value)) {
    const isOwn = EXPIRES_IN.test(name) && typeof field === 'number' && field >= MIN_LIFETIME_S
    const found = isOwn ? Math.floor(field) : findLifetime(field, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

function isJson({ body, contentType = 'application/json' }: HandlerResult): boolean {
  return body !== '' && /\bjson\b/i.test(contentType)
}
