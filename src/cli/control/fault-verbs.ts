import { Argument, type Command } from 'commander'
import type { FaultView } from '../../control/views.js'
import { type FaultRule, formatFaultRule } from '../../domain/faults.js'
import { SUNSET_MODES, type SunsetMode } from '../../domain/sunset.js'
import { faultRule } from './arguments.js'
import { done, type Result } from './result.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addFaultVerbs(parent: Command, { group, verb, steer }: VerbCommands): void {
  const fault = group(parent, 'fault', 'failing and broken answers')
  verb(fault, 'add', 'one more rule, at the end of the list; the first that matches wins', [
    "fault add 'listPets:503@20%*3'",
    "fault add '*:connection-reset'",
  ])
    .argument('<rule>', '<operation|*>:<status or fault>[@20%][*3], as for serve', faultRule)
    .action(steer(async ({ controls }, rule: FaultRule) => view(await controls.faults.add(rule))))
  verb(fault, 'list', 'the rules, in their order', ['fault list']).action(
    steer(async ({ controls }) => view(await controls.faults.list())),
  )
  verb(fault, 'clear', 'take all rules away', ['fault clear']).action(
    steer(async ({ controls }) => {
      await controls.faults.clear()
      return done('There are no faults any more.')
    }),
  )
  verb(parent, 'sunset', 'how the removal of deprecated operations is played', ['sunset after', 'sunset auto'])
    .addArgument(new Argument('<mode>', 'auto goes by the clock').choices(SUNSET_MODES))
    .action(
      steer(async ({ controls }, mode: SunsetMode) => {
        const value = await controls.sunset(mode)
        return { value, text: value.sunset }
      }),
    )
}

function view(value: readonly FaultView[]): Result {
  const rows = value.map((rule, index) => [
    String(index + 1),
    formatFaultRule(rule),
    rule.left === null ? 'without end' : String(rule.left),
  ])
  return {
    value,
    text: table(['#', 'rule', 'left'], rows),
    ...(rows.length === 0 ? { note: 'There are no faults.' } : {}),
  }
}
