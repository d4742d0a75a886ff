import type { Command } from 'commander'
import { done } from './result.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addSpaceVerbs(parent: Command, { group, verb, steer }: VerbCommands): void {
  const spaces = group(parent, 'spaces', 'the isolated copies that keys like sandbox~checkout open')
  verb(spaces, 'list', 'the open ones, beside the default one', ['spaces list']).action(
    steer(async ({ sandbox }) => {
      const value = await sandbox.spaces.list()
      const rows = value.map(({ name, pets, requests }) => [name, String(pets), String(requests)])
      return {
        value,
        text: table(['space', 'pets', 'requests'], rows),
        ...(rows.length === 0 ? { note: 'There is the default space only.' } : {}),
      }
    }),
  )
  verb(spaces, 'remove', 'remove one with everything in it; its next request starts it afresh', [
    'spaces remove checkout',
  ])
    .argument('<name>', 'its name')
    .action(
      steer(async ({ sandbox }, name: string) => {
        await sandbox.spaces.remove(name)
        return done(`The space ${name} is removed.`, { removed: name })
      }),
    )
}
