import { Argument, type Command, Option } from 'commander'
import type { CommandEntry } from './command-file.js'
import { readScript, SHELLS, type Shell } from './completion/shells.js'
import { argumentsOf } from './completion/split-line.js'
import { suggest } from './completion/suggest.js'
import { suggestionLines } from './completion/suggestion.js'
import { EXIT } from './exit-codes.js'
import { explain } from './help.js'
import type { CliIo } from './io.js'
import { print } from './print.js'

const NOTES = `\
Prints the script; to have it in every new shell:
  bash   echo 'eval "$(petstore-sandbox completion bash)"' >> ~/.bashrc
  zsh    echo 'source <(petstore-sandbox completion zsh)' >> ~/.zshrc    (after compinit)
  fish   petstore-sandbox completion fish > ~/.config/fish/completions/petstore-sandbox.fish`

export function define(
  command: Command,
  io: CliIo,
  finish: (exitCode: number) => void,
  commands: readonly CommandEntry[],
): void {
  explain(command, { examples: ['petstore-sandbox completion bash'], notes: NOTES })
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
    .addOption(new Option('--line <text>', 'answers the scripts: what was typed up to the cursor').hideHelp())
    .option('--debug', 'show stack traces')
    .action(async (shell: Shell, { line }: { readonly line?: string }) => {
      await print(io.stdout, line === undefined ? readScript(shell) : await answer(command, line, io, commands))
      finish(EXIT.ok)
    })
}

async function answer(own: Command, line: string, io: CliIo, commands: readonly CommandEntry[]): Promise<string> {
  const words = [...argumentsOf(line)]
  const typed = words.pop() ?? ''
  const program = own.parent ?? own
  // The tree holds every command by name; its flags and subcommands come with its module.
  const open = async (command: Command) => {
    if (command === own || command.parent !== program) return
    const entry = commands.find(({ name }) => name === command.name())
    if (entry !== undefined) (await entry.load()).define(command, io, () => {}, commands)
  }
  return suggestionLines(await suggest(program, open, words, typed), typed)
}
