import type { KeyPlace } from '../../contract/contract-data.js'
import { hasInvalidName, keyLabel } from '../../domain/keys.js'
import { isPublic } from '../../domain/messages.js'
import { PROBLEMS } from '../../domain/problems.js'
import { isBearer } from '../../domain/request-headers.js'
import type { Gate } from '../request-context.js'
import { challengeFor, problem } from '../responses.js'
import type { Space } from '../space.js'
import { whatWorks } from '../what-works.js'

/** Is the key valid? Asked before the path, so that a 401 precedes a 404. @source docs/specification.md, "Authentication" */
export const checkKey: Gate = ({ caller, route, request, space }) => {
  if (
    caller.kind === 'key' &&
    route.kind === 'operation' &&
    !caller.isStranger &&
    space.shared.upstream?.hasKey === false
  )
    return problem('invalid_api_key', {
      message: noUpstreamKey(caller.label),
      challenge: challengeFor({ space, route }),
    })
  // A path outside the service is a mistyped base address.
  if (caller.kind === 'key' || route.kind === 'outside' || isPublic(route)) return undefined
  const challenge = challengeFor({ space, route })
  const { choices } = challenge
  const help = space.shared.contract.isPackaged === true ? '' : whatWorks(space)
  if (caller.problem === 'ended_login')
    return problem('invalid_api_key', { message: `The login has ended.${help}`, challenge })
  if (caller.problem === 'invalid_api_key') {
    const message = hasInvalidName(request.headers.authorization) ? INVALID_NAME : unknownKey(space) + help
    return problem('invalid_api_key', { message, challenge })
  }
  if (!choices.every((places) => places.every((place) => !('in' in place) && isBearer(place)))) {
    const forms = choices.map((places) => places.map(keyForm).join(' and ')).join(' or ')
    return problem('missing_api_key', { message: `No API key was sent. Send one as: ${forms}.${help}`, challenge })
  }
  // The token may be a secret and is not repeated.
  const message = request.headers.authorization === undefined ? PROBLEMS.missing_api_key.message : NO_BEARER
  return problem('missing_api_key', { message: message + help, challenge })
}

function keyForm(place: KeyPlace): string {
  const { name } = place
  if (!('in' in place)) return `${name}: ${place.prefix}<API_KEY>`
  switch (place.in) {
    case 'query':
      return `?${name}=<API_KEY>`
    case 'cookie':
      return `Cookie: ${name}=<API_KEY>`
    case 'basic':
      return 'HTTP Basic, with <API_KEY> as the password or the user'
    case 'authorization':
      return `Authorization: ${place.scheme === undefined ? '' : `${place.scheme} `}<API_KEY>`
  }
}

const NO_BEARER =
  'The Authorization header does not hold a Bearer token. Send the key as: Authorization: Bearer <API_KEY>.'
const INVALID_NAME =
  'The API key has an invalid name of a space or sender after "~". Use 1 to 64 of A-Z a-z 0-9 . _ - for each.'

function noUpstreamKey(label: string): string {
  return `The key "${label}" works only in this sandbox, not in the service behind it. Send a key of that service, or start the sandbox with --upstream-api-key-file.`
}

const MOST_NAMED = 5

/** Names fixture keys that would work; labelled keys are secret. */
function unknownKey({ seed, shared }: Space): string {
  const message = PROBLEMS.invalid_api_key.message
  if (shared.contract.isPackaged !== true) return message
  const open = seed.keys.filter((apiKey) => apiKey.always === undefined && keyLabel(apiKey) === apiKey.key)
  const named = open.slice(0, MOST_NAMED).map(({ key }) => key)
  return named.length === 0 ? message : `${message} The fixture keys are ${named.join(', ')}.`
}
