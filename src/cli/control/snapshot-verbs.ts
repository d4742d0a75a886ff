import type { Command } from 'commander'
import { escapeControls } from '../escape-controls.js'
import { done } from './result.js'
import type { VerbCommands } from './verb-commands.js'

export function addSnapshotVerbs(parent: Command, { group, verb, call }: VerbCommands): void {
  const snapshot = group(parent, 'snapshot', 'the whole state of a space, saved under a name', 'snapshots')
  verb(snapshot, 'save', 'save it, replacing one of the same name', ['snapshot save full-basket'])
    .argument('<name>', 'letters, digits and . _ -')
    .action(
      call(async ({ controls }, name: string) => {
        await controls.snapshots.save(name)
        return done(`Saved the snapshot ${name}.`, { name })
      }),
    )
  verb(snapshot, 'restore', 'restore everything, including quotas, bans and clock; the log stays', [
    'snapshot restore full-basket',
  ])
    .argument('<name>', 'its name')
    .action(
      call(async ({ controls }, name: string) => {
        await controls.snapshots.restore(name)
        return done(`Restored the snapshot ${name}.`, { name })
      }),
    )
  verb(snapshot, 'list', 'list the snapshots', ['snapshot list']).action(
    call(async ({ controls }) => {
      const value = await controls.snapshots.list()
      return {
        value,
        text: value.map(escapeControls).join('\n'),
        ...(value.length === 0 ? { note: 'There are no snapshots.' } : {}),
      }
    }),
  )
  verb(snapshot, 'remove', 'remove one', ['snapshot remove full-basket'])
    .argument('<name>', 'its name')
    .action(
      call(async ({ controls }, name: string) => {
        await controls.snapshots.remove(name)
        return done(`The snapshot ${name} is removed.`, { removed: name })
      }),
    )
}
