import type { Caller } from '../domain/callers.js'
import { type ApiKey, labelOf } from '../domain/keys.js'
import { digestOf } from '../system/digest.js'
import type { Space } from './space.js'

/** Label of a caller without a key, and of one whose token the sandbox does not know (it may be a real key). */
const NO_KEY = 'none'
const UNKNOWN_KEY = 'unknown'

/**
 * Identifies the caller.
 *
 * @param token   the API key without its space, undefined if none was sent, '' if what was sent cannot be one
 * @param address charged in place of a key
 * @source docs/specification.md, "Authentication"; docs/behaviour.md, "requests without a valid key"
 */
export function identify(space: Space, token: string | undefined, address: string): Caller {
  if (token === undefined) return anonymous(space, 'missing_api_key', NO_KEY, address)
  const apiKey = space.keys.get(token)
  if (apiKey !== undefined) {
    const label = labelOf(apiKey)
    if (apiKey.always === 'revoked') return anonymous(space, 'invalid_api_key', label, address)
    return {
      kind: 'key',
      label,
      apiKey,
      name: label,
      isStranger: false,
      isOpen: label === token,
      account: space.accounts.ofKey(token),
      limits: space.limitsOf(apiKey),
    }
  }
  // A real service knows its own keys.
  if (!(space.anyKey || space.shared.realService !== undefined) || token === '')
    return anonymous(space, 'invalid_api_key', UNKNOWN_KEY, address)
  const stranger: ApiKey = { key: UNKNOWN_KEY }
  // The digest separates the quotas of unknown tokens without storing the tokens.
  const name = `token:${digestOf(token)}`
  return {
    kind: 'key',
    label: UNKNOWN_KEY,
    apiKey: stranger,
    name,
    isStranger: true,
    isOpen: false,
    account: space.accounts.ofStranger(name),
    limits: space.limitsOf(stranger),
  }
}

function anonymous(
  space: Space,
  problem: 'missing_api_key' | 'invalid_api_key',
  label: string,
  address: string,
): Caller {
  const account = space.accounts.ofStranger(`address:${address}`)
  return { kind: 'address', label, isOpen: false, problem, account, limits: space.planLimits('free') }
}
