import type { Command } from 'commander'
import { formatDuration } from '../../domain/time.js'
import { table } from './table.js'
import type { VerbCommands } from './verb-commands.js'

export function addReplicaVerb(parent: Command, { verb, call }: VerbCommands): void {
  verb(parent, 'replicas', 'list the replicas that are this sandbox, with how far each is', ['replicas'])
    .option('--digest', 'with a digest of all that the one asked holds: the same for all at the same position')
    .action(
      call(async ({ sandbox }, { digest = false }: { readonly digest?: boolean }) => {
        const value = await sandbox.replicas(digest ? { digest } : {})
        const rows = value.map(({ name, address, version, position, lagMs, isThis, digest: held = '' }) => [
          name,
          address,
          version,
          String(position),
          formatDuration(lagMs),
          isThis ? `answers here ${held}`.trimEnd() : '',
        ])
        return {
          value,
          text: (width) => table(['replica', 'address', 'version', 'position', 'lag', ''], rows, width),
          ...(rows.length === 0 ? { note: 'This sandbox stands by itself; see serve --redis.' } : {}),
        }
      }),
    )
}
