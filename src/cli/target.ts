import type { Command } from 'commander'
import { EXIT } from './exit-codes.js'
import { addHelpCommand, explain } from './help.js'
import type { CliIo } from './io.js'
import { type OutputFlags, outputOptions, wantsJson } from './output-form.js'
import { listTargets } from './target/list.js'
import { removeTarget } from './target/remove.js'
import { type SetFlags, setTarget } from './target/set.js'
import { useTarget } from './target/use.js'

const SET_EXAMPLE =
  'target set staging --base-url https://staging.example/v1 \\\n      --api-key-file ~/.secrets/staging.key'

const NOTES = `\
Targets are sandbox, staging, production and your own. They are kept in
$XDG_CONFIG_HOME/petstore-sandbox/config.yaml (~/.config without it), keys are
not: each stays in a file of its own, and is only ever sent to the origin of its
target. PETSTORE_API_KEY and --api-key-file win over it.`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  addHelpCommand(command)
  explain(command, {
    examples: [
      'petstore-sandbox target list',
      'petstore-sandbox target use staging',
      `petstore-sandbox ${SET_EXAMPLE}`,
    ],
    notes: NOTES,
  })
  const verb = (usage: string, description: string, example: string, isDefault = false) => {
    const made = command.command(usage, { isDefault }).description(description)
    for (const option of outputOptions()) made.addOption(option)
    return explain(made.option('--debug', 'show stack traces'), { examples: [`petstore-sandbox ${example}`] })
  }

  verb('list', 'list the targets and where each value comes from', 'target list', true).action(
    async (flags: OutputFlags) => {
      await listTargets(io, wantsJson(flags))
      finish(EXIT.ok)
    },
  )
  verb('set <name>', 'set the address of a target and the file of its key', SET_EXAMPLE)
    .option('--base-url <url>', 'base address, ending in its version segment')
    .option('--api-key-file <file>', 'file that holds its API key, and nothing else')
    .action(async (name: string, flags: SetFlags & OutputFlags) => {
      await setTarget(name, flags, io, wantsJson(flags))
      finish(EXIT.ok)
    })
  verb('use <name>', 'choose the default target; never production', 'target use staging').action(
    async (name: string, flags: OutputFlags) => {
      await useTarget(name, io, wantsJson(flags))
      finish(EXIT.ok)
    },
  )
  verb('remove <name>', 'forget a target', 'target remove staging').action(async (name: string, flags: OutputFlags) => {
    await removeTarget(name, io, wantsJson(flags))
    finish(EXIT.ok)
  })
}
