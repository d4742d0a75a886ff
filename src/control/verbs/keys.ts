import * as v from 'valibot'
import { excerpt } from '../../contract/excerpt.js'
import type { Space } from '../../core/space.js'
import { type ApiKey, keyLabel, PLAN_NAMES } from '../../domain/keys.js'
import type { ProblemCode } from '../../domain/problems.js'
import { keySchema } from '../../options/values/keys.js'
import { oneOf, someWaitSchema } from '../../options/values/reading.js'
import { keyView } from '../state.js'
import { fields, text, type VerbContext, VerbError, verb } from '../verb.js'

const planSchema = oneOf(PLAN_NAMES)
const knowsKeys = (space: Space, { key }: { readonly key: string }) => space.findKey(key) !== undefined

export const keyVerbs = {
  'keys.list': verb('GET /keys', 'The keys of a space, with plan, quotas and ban', {
    run: ({ space, wall }) => [...space.keys.values()].map((apiKey) => keyView(space, apiKey, wall)),
  }),
  'keys.add': verb('POST /keys', 'Adds a key to all spaces; it is stored', {
    input: fields({ key: keySchema, plan: v.optional(planSchema, 'free') }),
    run({ space, spaces, wall }, { key, plan }) {
      const known = space.findKey(key)
      if (known === undefined) return keyView(space, spaces.addKey(key, plan), wall)
      const label = keyLabel(known)
      throw new VerbError(
        'conflict',
        `The key "${label}" already exists. Change its plan with PATCH /keys/${label}, or "control plan".`,
      )
    },
  }),
  'keys.change': verb('PATCH /keys/{key}', 'Moves a key to another plan in a space', {
    input: fields({ key: text, plan: planSchema }),
    knowsKeys,
    run: (context, { key, plan }) => change(context, key, (apiKey) => context.space.movePlan(apiKey, plan)),
  }),
  'keys.remove': verb('DELETE /keys/{key}', 'Removes a key from all spaces; removed is null if it does not exist', {
    input: fields({ key: text }),
    knowsKeys,
    canUndo: true,
    run({ space, spaces }, { key }) {
      const apiKey = space.findKey(key)
      if (apiKey === undefined) return { removed: null }
      spaces.removeKey(apiKey.key)
      return { removed: keyLabel(apiKey) }
    },
  }),
  'keys.ban': verb('PUT /keys/{key}/ban', 'Bans a key (default duration: the setting ban-duration)', {
    input: fields({ key: text, for: v.optional(someWaitSchema) }),
    knowsKeys,
    run(context, { key, for: duration = context.space.settings.banDuration }) {
      const { space, wall } = context
      checkBannable(findKey(space, key))
      return change(context, key, (apiKey) => space.banKey(apiKey.key, duration, space.now(wall)))
    },
  }),
  'keys.unban': verb('DELETE /keys/{key}/ban', 'Lifts the ban of a key; null if the key does not exist', {
    input: fields({ key: text }),
    knowsKeys,
    run: (context, { key }) =>
      knowsKeys(context.space, { key }) ? change(context, key, (apiKey) => context.space.unbanKey(apiKey.key)) : null,
  }),
}

function change({ space, wall }: VerbContext, name: string, act: (apiKey: ApiKey) => void) {
  const apiKey = findKey(space, name)
  act(apiKey)
  return keyView(space, apiKey, wall)
}

export function checkBannable(apiKey: ApiKey): void {
  if (apiKey.always === 'limited')
    throw new VerbError('conflict', `The key "${keyLabel(apiKey)}" is always out of quota and never banned.`)
}

/** @param name the label or the key, which may be real and is not repeated in the error */
export function findKey(space: Space, name: string, code: ProblemCode = 'not_found'): ApiKey {
  const apiKey = space.findKey(name)
  if (apiKey !== undefined) return apiKey
  const labels = excerpt([...space.keys.values()].map(keyLabel).join(', '))
  throw new VerbError(code, `Unknown key. This space has ${labels}.`)
}
