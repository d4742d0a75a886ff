import {
  type AccountId,
  type ApiKey,
  type Caller,
  DEFAULT_KEY,
  type KeyProblem,
  keyLabel,
  type SentKey,
} from '../domain/keys.js'
import { type Login, readLogin } from '../domain/login-tokens.js'
import { isRunning } from '../domain/logins.js'
import { type EpochMs, SECOND_MS } from '../domain/time.js'
import { digestOf } from '../system/runtime.js'
import type { Space } from './space.js'

const NO_KEY_LABEL = 'none'
const UNKNOWN_KEY = 'unknown'

/** @param sent undefined if no key was sent @param address charged in place of a key @source docs/specification.md, "Authentication"; docs/behaviour.md, "requests without a valid key" */
export function identify(space: Space, sent: SentKey | undefined, address: string, now: EpochMs): Caller {
  if (sent === undefined) return anonymous(space, 'missing_api_key', NO_KEY_LABEL, address)
  const { token, sender } = sent
  const apiKey = space.keys.get(token)
  if (apiKey !== undefined) {
    const label = keyLabel(apiKey)
    if (apiKey.always === 'revoked') return anonymous(space, 'invalid_api_key', label, address)
    return {
      kind: 'key',
      label,
      apiKey,
      name: label,
      isStranger: false,
      sender,
      isPublic: label === token,
      account: { kind: 'key', name: token },
      limits: space.currentLimits(apiKey),
    }
  }
  const login = space.shared.hasLogins && space.state.logins.issued > 0 ? readLogin(token) : undefined
  if (login !== undefined) return callerOfLogin(space, login, sender, address, now)
  if (!(space.shared.anyKey || space.shared.upstream !== undefined) || token === '')
    return anonymous(space, 'invalid_api_key', UNKNOWN_KEY, address)
  const stranger: ApiKey = { key: UNKNOWN_KEY }
  // The digest separates the quotas of unknown tokens without storing them.
  const name = `token:${digestOf(token)}`
  return {
    kind: 'key',
    label: UNKNOWN_KEY,
    apiKey: stranger,
    name,
    isStranger: true,
    // It may be part of a real key.
    sender: '',
    isPublic: false,
    account: { kind: 'stranger', name },
    limits: space.currentLimits(stranger),
  }
}

/** Whether its token does not work, or no longer. */
export function hasEnded(space: Space, { n, space: of, expiresAt }: Login, now: EpochMs): boolean {
  return of !== space.name || !isRunning(space.state.logins, n) || now >= expiresAt * SECOND_MS
}

/** A login has the account of the key `sandbox`. Its token is no secret. */
function callerOfLogin(space: Space, login: Login, sender: string, address: string, now: EpochMs): Caller {
  if (hasEnded(space, login, now)) return anonymous(space, 'ended_login', UNKNOWN_KEY, address)
  const apiKey = space.keys.get(DEFAULT_KEY) ?? { key: DEFAULT_KEY }
  const account: AccountId = { kind: 'key', name: DEFAULT_KEY }
  const facts = { label: DEFAULT_KEY, name: DEFAULT_KEY, isStranger: false, isPublic: true } as const
  return { kind: 'key', ...facts, apiKey, sender, login: login.n, account, limits: space.currentLimits(apiKey) }
}

function anonymous(space: Space, problem: KeyProblem, label: string, address: string): Caller {
  const account: AccountId = { kind: 'stranger', name: `address:${address}` }
  return { kind: 'address', label, isPublic: false, problem, account, limits: space.currentLimits(undefined) }
}
