import * as v from 'valibot'
import { excerpt } from '../../contract/excerpt.js'
import type { Space } from '../../core/space.js'
import { banKeys, movePlan, unbanKey } from '../../core/transitions.js'
import { type ApiKey, keyLabel } from '../../domain/keys.js'
import { planProblem } from '../../domain/plans.js'
import type { ProblemCode } from '../../domain/problems.js'
import { keySchema, planSchema } from '../../options/values/keys.js'
import { positiveWaitSchema } from '../../options/values/reading.js'
import { keyView, keyViews } from '../state.js'
import { described, fields, text, type VerbContext, VerbError, verb } from '../verb.js'
import type { KeyView } from '../views.js'

const ofPlan = described(planSchema, 'its plan, one of the contract')
const namedKey = described(text, 'an API key; sandbox-pro~checkout is the key sandbox-pro in the space checkout')
const hasUnknownKey = (space: Space, { key }: { readonly key: string }) => space.shared.keys.find(key) === undefined
/** A removal or unban that finds nothing succeeds. The given text may be a real key. */
const UNKNOWN_KEY = 'Unknown key.'

export const keyVerbs = {
  'keys.list': verb('GET /keys', 'List all keys with plan, quotas and ban', {
    command: 'keys list',
    run: ({ space, wall }) => keyViews(space, wall),
  }),
  'keys.add': verb('POST /keys', 'Add a key to every space, and keep it in the store', {
    input: fields({ key: described(keySchema, 'an API key'), plan: v.optional(ofPlan) }),
    command: 'keys add <key> [plan]',
    example: { key: 'team-b', plan: 'pro' },
    run({ space, spaces, wall }, { key, plan }) {
      checkPlan(space, plan)
      const known = space.shared.keys.find(key)
      if (known === undefined) return keyView(space, spaces.addKey(key, plan), wall)
      const label = keyLabel(known)
      throw new VerbError(
        'conflict',
        `The key "${label}" already exists. Change its plan with PATCH /keys/${label}, or "control plan".`,
      )
    },
    text: ({ key, plan }) => `Key ${key} added${plan === null ? '' : `, on the plan ${plan}`}.`,
  }),
  'keys.change': verb('PATCH /keys/{key}', 'Change the plan of a key', {
    input: fields({ key: namedKey, plan: ofPlan }),
    methodName: 'plan',
    command: 'plan <key> <plan>',
    example: { key: 'team-a', plan: 'pro' },
    hasUnknownKey,
    run(context, { key, plan }) {
      checkPlan(context.space, plan)
      return change(context, key, (apiKey) =>
        context.space.commit(...movePlan(context.space.state, context.space.shared.keys, apiKey, plan)),
      )
    },
    text: ({ key, plan }) => `Key ${key} is on the plan ${plan}.`,
  }),
  'keys.remove': verb('DELETE /keys/{key}', 'Remove a key from every space', {
    input: fields({ key: namedKey }),
    command: 'keys remove <key>',
    example: { key: 'team-a' },
    hasUnknownKey,
    run({ space, spaces }, { key }): { readonly removed: string | null } {
      const apiKey = space.shared.keys.find(key)
      if (apiKey === undefined) return { removed: null }
      spaces.removeKey(apiKey.key)
      return { removed: keyLabel(apiKey) }
    },
    text: ({ removed }) => (removed === null ? UNKNOWN_KEY : `Key ${removed} removed.`),
  }),
  'logins.expire': verb('DELETE /logins', 'End all logins: their tokens get a 401', {
    details: 'See [logins](spec.md#logins).',
    command: 'logins expire',
    run({ space }) {
      const { issued } = space.state.logins
      space.commit({ logins: { issued, ended: issued } })
      return { issued }
    },
    text: ({ issued }) => `All logins have ended (${issued} so far).`,
  }),
  'keys.ban': verb('PUT /keys/{key}/ban', 'Ban a key', {
    details: 'Default duration: the setting `banDuration`.',
    input: fields({ key: namedKey, for: v.optional(described(positiveWaitSchema, 'duration')) }),
    methodName: 'ban',
    command: 'ban <key> [--for <duration>]',
    example: { key: 'team-a', for: '30s' },
    hasUnknownKey,
    run(context, { key, for: duration = context.space.state.settings.banDuration }) {
      const { space, wall } = context
      checkBannable(findKey(space, key))
      return change(context, key, (apiKey) => {
        const { accounts } = space.state
        const bans = { [apiKey.key]: duration }
        space.commit({ accounts: banKeys(accounts, space.shared.keys, bans, space.now(wall), space.requests) })
      })
    },
    text: banText,
  }),
  'keys.unban': verb('DELETE /keys/{key}/ban', 'Lift the ban of a key', {
    details: 'Returns null if the key does not exist.',
    input: fields({ key: namedKey }),
    methodName: 'unban',
    command: 'unban <key>',
    example: { key: 'sandbox-pro' },
    hasUnknownKey,
    run: (context, { key }) =>
      hasUnknownKey(context.space, { key })
        ? null
        : change(context, key, ({ key: banned }) =>
            context.space.commit({ accounts: unbanKey(context.space.state.accounts, banned) }),
          ),
    text: (key) => (key === null ? UNKNOWN_KEY : banText(key)),
  }),
}

/** @throws VerbError for a plan that the contract does not have */
export function checkPlan({ shared }: Space, plan: string | undefined): void {
  const problem = planProblem(shared.contract, plan)
  if (problem !== undefined) throw new VerbError('invalid_request', problem)
}

function banText({ key, always, ban }: KeyView): string {
  if (always !== null) return `Key ${key} is always ${always}.`
  return ban === null ? `Key ${key} is not banned.` : `Key ${key} is banned until ${ban.until}.`
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
  const apiKey = space.shared.keys.find(name)
  if (apiKey !== undefined) return apiKey
  const labels = excerpt([...space.keys.values()].map(keyLabel).join(', '))
  throw new VerbError(code, `Unknown key. This space has ${labels}.`)
}
