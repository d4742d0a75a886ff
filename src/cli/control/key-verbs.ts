import { Argument, type Command } from 'commander'
import type { KeyView } from '../../control/views.js'
import { PLAN_NAMES, type PlanName } from '../../domain/keys.js'
import { durationText } from './arguments.js'
import { done, type Result } from './result.js'
import { ofKey } from './steering.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

const KEY = 'an API key; sandbox-pro~checkout is the key sandbox-pro in the space checkout'

export function addKeyVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  const keys = group(parent, 'keys', 'the API keys')
  verb(keys, 'list', 'list all keys with plan, quotas and ban', ['keys list']).action(
    call(async ({ controls }) => {
      const value = await controls.keys.list()
      return { value, text: (width) => keyTable(value, width) }
    }),
  )
  verb(keys, 'add', 'add a key; it is stored', ['keys add team-a', 'keys add team-b pro'])
    .argument('<key>', 'the new key')
    .addArgument(new Argument('[plan]', 'its plan').choices(PLAN_NAMES).default('free'))
    .action(
      call(async (at, sent: string, plan: PlanName) => {
        const { controls, key } = ofKey(at, sent)
        return view(await controls.keys.add(key, plan))
      }),
    )
  verb(keys, 'remove', 'remove one', ['keys remove team-a'])
    .argument('<key>', KEY)
    .action(
      call(async (at, sent: string) => {
        const { controls, key } = ofKey(at, sent)
        await controls.keys.remove(key)
        return done(`The key ${key} is removed.`, { removed: key })
      }),
    )
  verb(parent, 'plan', 'put a key on a plan', ['plan sandbox pro'])
    .argument('<key>', KEY)
    .addArgument(new Argument('<plan>', 'the plan').choices(PLAN_NAMES))
    .action(
      call(async (at, sent: string, plan: PlanName) => {
        const { controls, key } = ofKey(at, sent)
        return view(await controls.plan(key, plan))
      }),
    )
  verb(parent, 'ban', 'ban a key', ['ban sandbox', 'ban sandbox --for 30s'])
    .argument('<key>', KEY)
    .option('--for <duration>', 'how long (default: the ban duration of the settings)', durationText)
    .action(
      call(async (at, sent: string, flags: { readonly for?: string }) => {
        const { controls, key } = ofKey(at, sent)
        return view(await controls.ban(key, flags.for === undefined ? {} : { for: flags.for }))
      }),
    )
  verb(parent, 'unban', 'lift the ban of a key', ['unban sandbox'])
    .argument('<key>', KEY)
    .action(
      call(async (at, sent: string) => {
        const { controls, key } = ofKey(at, sent)
        return view(await controls.unban(key))
      }),
    )
}

/** One key per line: what is left of its quotas, and its ban. */
export function keyTable(keys: readonly KeyView[], width: number): string {
  const rows = keys.map(({ key, plan, minute, day, always, ban }) => [
    key,
    plan,
    `${minute.remaining}/${minute.limit}`,
    `${day.remaining}/${day.limit}`,
    always !== null ? `always ${always}` : ban === null ? '' : `banned until ${ban.until}`,
  ])
  return table(['key', 'plan', 'left/minute', 'left/day', 'ban'], rows, width)
}

function view(value: KeyView): Result {
  return { value, text: (width) => keyTable([value], width) }
}
