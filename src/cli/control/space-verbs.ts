import type { Command } from 'commander'
import { done } from './result.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addSpaceVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  const spaces = group(parent, 'spaces', 'isolated copies, opened by keys such as sandbox~checkout')
  verb(spaces, 'list', 'list the open spaces except the default one', ['spaces list']).action(
    call(async ({ sandbox }) => {
      const value = await sandbox.spaces.list()
      const rows = value.map(({ name, pets, requests }) => [name, String(pets), String(requests)])
      return {
        value,
        text: (width) => table(['space', 'pets', 'requests'], rows, width),
        ...(rows.length === 0 ? { note: 'There is only the default space.' } : {}),
      }
    }),
  )
  verb(spaces, 'remove', 'remove a space and everything in it; its next request starts it afresh', [
    'spaces remove checkout',
  ])
    .argument('<name>', 'its name')
    .action(
      call(async ({ sandbox }, name: string) => {
        await sandbox.spaces.remove(name)
        return done(`The space ${name} is removed.`, { removed: name })
      }),
    )
}
