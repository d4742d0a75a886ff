import { RESERVED_PATH } from '../contract/base-path.js'
import { quote } from '../contract/excerpt.js'
import { isSpaceName, NAME_FORM, NO_KEY, type SentKey } from '../domain/keys.js'
import type { HandlerResult } from '../domain/messages.js'
import { readSpace } from '../domain/request-headers.js'
import type { EpochMs } from '../domain/time.js'
import type { RequestCommand } from './command.js'
import { problem } from './responses.js'
import type { Space } from './space.js'
import { splitTarget } from './target.js'

interface Spaces {
  readonly default: Space
  get(name: string): Space | undefined
  canOpen(name: string, token: string): boolean
  /** Undefined if there are too many. */
  open(name: string, now: EpochMs): Space | undefined
  fullMessage(): string
}

/** Where a request goes. */
export interface Destination {
  readonly space: Space
  /** As this space reads it; undefined if no key was sent. */
  readonly sent: SentKey | undefined
  /** Why it reaches no space; the default one logs it. */
  readonly refusal?: HandlerResult
  /** Name in its baggage that is not an open space. */
  readonly unknownSpace?: string
}

/**
 * The space that a request names in its address, its key or its baggage, in this order. A valid key opens it.
 * @source docs/behaviour.md, "Spaces"
 */
export function openSpace(
  spaces: Spaces,
  { request }: RequestCommand,
  sent: SentKey | undefined,
  now: EpochMs,
): Destination {
  const { default: fallback } = spaces
  const { shared } = fallback
  const inAddress = request.space
  const inKey = sent?.space ?? ''
  // As most requests.
  if (inAddress === undefined && inKey === '' && shared.spaceFrom === 'key') return { space: fallback, sent }
  // Of an unknown key, this may be part of a secret.
  const isNamedByKey = sent !== undefined && inKey !== '' && spaces.canOpen(inKey, sent.token)
  const key = inKey === '' || isNamedByKey ? sent : unknownKey(spaces, sent ?? NO_KEY)
  const refuse = (refusal: HandlerResult): Destination => ({ space: fallback, sent: key, refusal })
  const open = (name: string): Destination => {
    const space = spaces.open(name, now)
    return space === undefined
      ? refuse(problem('too_many_spaces', { message: spaces.fullMessage() }))
      : { space, sent: key }
  }
  if (inAddress !== undefined) {
    const why = addressProblem(inAddress, request.target, isNamedByKey ? inKey : inAddress)
    if (why !== undefined) return refuse(problem(why[0], { message: why[1], outside: true }))
    const known = spaces.get(inAddress)
    if (known !== undefined) return { space: known, sent: key }
    if (key !== undefined && key.token !== '' && spaces.canOpen(inAddress, key.token)) return open(inAddress)
    const how = `The space "${inAddress}" is not open. Open it with POST /__sandbox/reset?space=${inAddress}.`
    return refuse(problem('not_found', { message: how, outside: true }))
  }
  if (isNamedByKey) return open(inKey)
  const inBaggage = shared.spaceFrom === 'baggage' && inKey === '' ? readSpace(request.headers.baggage) : undefined
  const space = spaces.get(inBaggage ?? '')
  if (space !== undefined) return { space, sent: key }
  return { space: fallback, sent: key, ...(inBaggage !== undefined && { unknownSpace: inBaggage }) }
}

/** The key in a token with the name of a space that it may not open. */
function unknownKey({ default: { keys, shared } }: Spaces, sent: SentKey): SentKey {
  if (keys.has(sent.token)) return sent
  return shared.upstream === undefined ? NO_KEY : { ...NO_KEY, token: `${sent.token}~${sent.space}` }
}

function addressProblem(
  name: string,
  target: string,
  inKey: string,
): readonly ['not_found' | 'invalid_request', string] | undefined {
  if (!isSpaceName(name)) return ['not_found', `The address names the space ${quote(name)}: must be ${NAME_FORM}.`]
  if (RESERVED_PATH.test(splitTarget(target).path))
    return ['not_found', `The control plane is at /__sandbox. Name the space with ?space=${name}.`]
  if (inKey === name) return undefined
  return ['invalid_request', `The address names the space "${name}", the key "${inKey}". Name it in one of them.`]
}
