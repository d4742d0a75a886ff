import { Argument, type Command } from 'commander'
import type { FaultView } from '../../control/views.js'
import { type FaultRule, formatFaultRule } from '../../domain/faults.js'
import { SUNSET_MODES, type SunsetMode } from '../../domain/sunset.js'
import { faultRule } from './arguments.js'
import { done, type Result } from './result.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addFaultVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  const fault = group(parent, 'fault', 'failing and broken responses', 'faults')
  verb(fault, 'add', 'add a rule at the end of the list; the first match wins', [
    "fault add 'listPets:503@20%*3'",
    "fault add '*:connection-reset'",
    'fault add createPet:503,retry-after=2s',
  ])
    .argument('<rule>', '<operation|*>:<status or fault>[@20%][*3][,retry-after=2s], as for serve', faultRule)
    .action(call(async ({ controls }, rule: FaultRule) => view(await controls.faults.add(rule))))
  verb(fault, 'list', 'list the rules in order', ['fault list']).action(
    call(async ({ controls }) => view(await controls.faults.list())),
  )
  verb(fault, 'clear', 'remove all rules', ['fault clear']).action(
    call(async ({ controls }) => {
      await controls.faults.clear()
      return done('All faults were removed.')
    }),
  )
  verb(parent, 'sunset', 'choose how deprecated operations are removed', ['sunset after', 'sunset auto'])
    .addArgument(new Argument('<mode>', 'auto follows the clock').choices(SUNSET_MODES))
    .action(
      call(async ({ controls }, mode: SunsetMode) => {
        const value = await controls.sunset(mode)
        return { value, text: value.sunset }
      }),
    )
}

function view(value: readonly FaultView[]): Result {
  const rows = value.map((rule, index) => [
    String(index + 1),
    formatFaultRule(rule),
    rule.left === null ? 'unlimited' : String(rule.left),
  ])
  return {
    value,
    text: (width) => table(['#', 'rule', 'left'], rows, width),
    ...(rows.length === 0 ? { note: 'There are no faults.' } : {}),
  }
}
