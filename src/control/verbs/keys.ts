import * as v from 'valibot'
import type { Space } from '../../core/space.js'
import { type ApiKey, labelOf, PLAN_NAMES } from '../../domain/keys.js'
import { keySchema } from '../../options/values/api-key.js'
import { someWaitSchema } from '../../options/values/duration.js'
import { oneOf } from '../../options/values/reading.js'
import { fields, text } from '../fields.js'
import { keyView } from '../state.js'
import { VerbError, verb } from '../verb.js'

const planSchema = oneOf(PLAN_NAMES)

export const list = verb({
  method: 'GET',
  path: '/keys',
  summary: 'The keys of a space, with plan, quotas and ban',
  run: ({ space, wall }) => [...space.keys.values()].map((apiKey) => keyView(space, apiKey, wall)),
})

export const add = verb({
  method: 'POST',
  path: '/keys',
  summary: 'Adds a key to all spaces; it is stored',
  input: fields({ key: keySchema, plan: v.optional(planSchema, 'free') }),
  run({ space, spaces, wall }, { key, plan }) {
    const known = space.findKey(key)
    if (known !== undefined) {
      const label = labelOf(known)
      throw new VerbError('conflict', `There is a key "${label}" already. Change its plan with PATCH /keys/${label}.`)
    }
    return keyView(space, spaces.addKey(key, plan), wall)
  },
})

export const change = verb({
  method: 'PATCH',
  path: '/keys/{key}',
  summary: 'Moves a key to another plan in a space',
  input: fields({ key: text, plan: planSchema }),
  run({ space, wall }, { key, plan }) {
    const apiKey = find(space, key)
    space.movePlan(apiKey, plan)
    return keyView(space, apiKey, wall)
  },
})

export const remove = verb({
  method: 'DELETE',
  path: '/keys/{key}',
  summary: 'Removes a key from all spaces',
  input: fields({ key: text }),
  run({ space, spaces, wall }, { key }) {
    const apiKey = find(space, key)
    const before = spaces.holdingsOf(apiKey)
    spaces.removeKey(apiKey.key)
    spaces.remember({ verb: 'keys.remove', space: space.name, at: wall, before })
    return { removed: labelOf(apiKey) }
  },
})

export const ban = verb({
  method: 'PUT',
  path: '/keys/{key}/ban',
  summary: 'Bans a key, for the ban duration of the settings unless another is given',
  input: fields({ key: text, for: v.optional(someWaitSchema) }),
  run({ space, wall }, { key, for: duration = space.settings.banDuration }) {
    const apiKey = find(space, key)
    checkBannable(apiKey)
    space.banKey(apiKey.key, duration, space.now(wall))
    return keyView(space, apiKey, wall)
  },
})

/** A key that is always out of quota shows that misfortune and no other. @throws VerbError */
export function checkBannable(apiKey: ApiKey): void {
  if (apiKey.always === 'limited')
    throw new VerbError('conflict', `The key "${labelOf(apiKey)}" is always out of quota and never banned.`)
}

export const unban = verb({
  method: 'DELETE',
  path: '/keys/{key}/ban',
  summary: 'Lifts the ban of a key',
  input: fields({ key: text }),
  run({ space, wall }, { key }) {
    const apiKey = find(space, key)
    space.unbanKey(apiKey.key)
    return keyView(space, apiKey, wall)
  },
})

/** @param name the key's label, or the key */
function find(space: Space, name: string): ApiKey {
  const apiKey = space.findKey(name)
  if (apiKey !== undefined) return apiKey
  const labels = [...space.keys.values()].map(labelOf)
  throw new VerbError('not_found', `There is no such key. This space has ${labels.join(', ')}.`)
}
