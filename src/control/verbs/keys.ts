import * as v from 'valibot'
import type { World } from '../../core/space.js'
import { banFor, NO_BAN_RECORD } from '../../domain/ban.js'
import { type ApiKey, DEFAULT_KEY, labelOf, PLAN_NAMES } from '../../domain/keys.js'
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
  run: ({ world }) => [...world.keys.values()].map((apiKey) => keyView(world, apiKey)),
})

export const add = verb({
  method: 'POST',
  path: '/keys',
  summary: 'Adds a key; it is stored',
  input: fields({ key: keySchema, plan: v.optional(planSchema, 'free') }),
  async run({ world }, { key, plan }) {
    const known = world.findKey(key)
    if (known !== undefined) {
      const label = labelOf(known)
      throw new VerbError('conflict', `There is a key "${label}" already. Change its plan with PATCH /keys/${label}.`)
    }
    return keep(world, { key, plan })
  },
})

export const change = verb({
  method: 'PATCH',
  path: '/keys/{key}',
  summary: 'Moves a key to another plan',
  input: fields({ key: text, plan: planSchema }),
  async run({ world }, { key, plan }) {
    const apiKey = find(world, key)
    if (apiKey.key !== DEFAULT_KEY) return keep(world, { ...apiKey, plan })
    // The plan of the key `sandbox` is a setting, so that a reset restores it.
    world.settings = { ...world.settings, plan }
    return keyView(world, apiKey)
  },
})

export const remove = verb({
  method: 'DELETE',
  path: '/keys/{key}',
  summary: 'Removes a key',
  input: fields({ key: text }),
  async run({ world }, { key }) {
    const apiKey = find(world, key)
    if (!world.isStartKey(apiKey.key)) await world.keep({ kind: 'key-removed', key: apiKey.key })
    world.removeKey(apiKey.key)
    return { removed: labelOf(apiKey) }
  },
})

export const ban = verb({
  method: 'PUT',
  path: '/keys/{key}/ban',
  summary: 'Bans a key, for the ban duration of the settings unless another is given',
  input: fields({ key: text, for: v.optional(someWaitSchema) }),
  run({ world }, { key, for: duration = world.settings.banDuration }) {
    const apiKey = find(world, key)
    if (apiKey.always === 'limited')
      throw new VerbError('conflict', `The key "${labelOf(apiKey)}" is always out of quota and never banned.`)
    world.accounts.ofKey(apiKey.key).bans = banFor(duration, world.now())
    return keyView(world, apiKey)
  },
})

export const unban = verb({
  method: 'DELETE',
  path: '/keys/{key}/ban',
  summary: 'Lifts the ban of a key',
  input: fields({ key: text }),
  run({ world }, { key }) {
    const apiKey = find(world, key)
    world.accounts.ofKey(apiKey.key).bans = NO_BAN_RECORD
    return keyView(world, apiKey)
  },
})

/** @param name the key's label, or the key */
function find(world: World, name: string): ApiKey {
  const apiKey = world.findKey(name)
  if (apiKey !== undefined) return apiKey
  const labels = [...world.keys.values()].map(labelOf)
  throw new VerbError('not_found', `There is no such key. This space has ${labels.join(', ')}.`)
}

async function keep(world: World, apiKey: ApiKey) {
  if (!world.isStartKey(apiKey.key)) await world.keep({ kind: 'key', key: apiKey })
  world.putKey(apiKey)
  return keyView(world, apiKey)
}
