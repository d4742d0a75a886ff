import type { Command } from 'commander'
import { EXIT } from './exit-codes.js'
import type { CliIo } from './io.js'
import { listTargets } from './target/list.js'
import { removeTarget } from './target/remove.js'
import { type SetFlags, setTarget } from './target/set.js'
import { useTarget } from './target/use.js'

const HELP = `
Targets are sandbox, staging, production and your own. They are kept in
$XDG_CONFIG_HOME/petstore-sandbox/config.yaml (~/.config without it), keys are
not: each stays in a file of its own, and is only ever sent to the origin of its
target. PETSTORE_API_KEY and --api-key-file win over it.

Examples:
  petstore-sandbox target set staging --base-url https://staging.example/v1 \\
      --api-key-file ~/.secrets/staging.key
  petstore-sandbox target use staging
  petstore-sandbox target list`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  command.addHelpText('after', HELP)
  const verb = (usage: string, description: string) =>
    command.command(usage).description(description).option('--debug', 'show stack traces')

  verb('list', 'list the targets and where each value comes from')
    .option('--json', 'print JSON')
    .action(async ({ json = false }: { readonly json?: boolean }) => {
      await listTargets(io, json)
      finish(EXIT.ok)
    })
  verb('set <name>', 'set the address of a target and the file of its key')
    .option('--base-url <url>', 'base address, ending in its version segment')
    .option('--api-key-file <file>', 'file that holds its API key, and nothing else')
    .action(async (name: string, flags: SetFlags) => {
      await setTarget(name, flags, io)
      finish(EXIT.ok)
    })
  verb('use <name>', 'choose the default target; never production').action(async (name: string) => {
    await useTarget(name, io)
    finish(EXIT.ok)
  })
  verb('remove <name>', 'forget a target').action(async (name: string) => {
    await removeTarget(name, io)
    finish(EXIT.ok)
  })
}
