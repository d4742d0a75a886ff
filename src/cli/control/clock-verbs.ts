import type { Command } from 'commander'
import type { ClockView } from '../../control/views.js'
import { durationText, instantText } from './arguments.js'
import type { Result } from './result.js'
import type { VerbCommands } from './verb-commands.js'

export function addClockVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  const clock = group(parent, 'clock', 'the clock behind quotas, bans, storms and the sunset')
  verb(clock, 'show', 'show the time', ['clock show']).action(
    call(async ({ controls }) => view(await controls.clock.show())),
  )
  verb(clock, 'set', 'move it forward to an instant', ['clock set 2030-12-04T23:59:00Z'])
    .argument('<instant>', 'ISO 8601, with Z or an offset', instantText)
    .action(call(async ({ controls }, now: string) => view(await controls.clock.set({ now }))))
  verb(clock, 'advance', 'move it forward by a duration', ['clock advance 1m', 'clock advance 24h'])
    .argument('<duration>', 'how far: 500ms, 30s, 5m or 24h', durationText)
    .action(call(async ({ controls }, by: string) => view(await controls.clock.advance(by))))
  verb(clock, 'freeze', 'stop it', ['clock freeze']).action(
    call(async ({ controls }) => view(await controls.clock.freeze())),
  )
  verb(clock, 'resume', 'let it run again', ['clock resume']).action(
    call(async ({ controls }) => view(await controls.clock.resume())),
  )
  verb(clock, 'reset', 'return to real time', ['clock reset']).action(
    call(async ({ controls }) => view(await controls.clock.reset())),
  )
}

function view(value: ClockView): Result {
  return { value, text: value.now + (value.frozen ? ' (frozen)' : '') }
}
