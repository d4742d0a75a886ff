import type { Command } from 'commander'
import { formatDuration } from '../../domain/time.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addReplicaVerb(parent: Command, { verb, call }: VerbCommands): void {
  verb(parent, 'replicas', 'list the replicas that are this sandbox, with how far each is', ['replicas']).action(
    call(async ({ sandbox }) => {
      const value = await sandbox.replicas()
      const rows = value.map(({ name, address, version, position, lagMs, isThis }) => [
        name,
        address,
        version,
        String(position),
        formatDuration(lagMs),
        isThis ? 'answers here' : '',
      ])
      return {
        value,
        text: (width) => table(['replica', 'address', 'version', 'position', 'lag', ''], rows, width),
        ...(rows.length === 0 ? { note: 'This sandbox stands by itself; see serve --redis.' } : {}),
      }
    }),
  )
}
