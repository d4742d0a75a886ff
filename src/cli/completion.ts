import { join } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { packageDirectory } from '../system/package-files.js'
import { readRegularFile } from '../system/regular-file.js'
import { suggest } from './completion/suggest.js'
import { EXIT } from './exit-codes.js'
import { explain } from './help.js'
import type { CliIo, CommandEntry } from './io.js'
import { print } from './print.js'

/** Each script under the name that its shell looks for. The build copies them from completion/scripts. */
const SCRIPTS = {
  bash: 'petstore-sandbox.bash',
  zsh: '_petstore-sandbox',
  fish: 'petstore-sandbox.fish',
} as const
type Shell = keyof typeof SCRIPTS
export const SHELLS = Object.keys(SCRIPTS) as readonly Shell[]

const NOTES = `\
Prints the script. To load it in every new shell:
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
    .addOption(new Option('--line <text>', 'for the scripts: the command line up to the cursor').hideHelp())
    .option('--debug', 'show stack traces')
    .action(async (shell: Shell, { line }: { readonly line?: string }) => {
      await print(io.stdout, line === undefined ? readScript(shell) : await complete(command, line, io, commands))
      finish(EXIT.ok)
    })
}

export function readScript(shell: Shell): string {
  return readRegularFile(join(packageDirectory, 'dist', 'completion', SCRIPTS[shell])).toString()
}

/** For the scripts: a line on paths (`:none`, `:file`, `:folder`), then a line for each word, its meaning after a tab. */
async function complete(own: Command, line: string, io: CliIo, commands: readonly CommandEntry[]): Promise<string> {
  const all = splitLine(line)
  // Variables may be set before the program: `PETSTORE_SANDBOX_PLAN=pro petstore-sandbox serve`.
  const words = all.slice(all.findIndex((word) => !/^\w+=/.test(word)) + 1)
  const typed = words.pop() ?? ''
  const program = own.parent ?? own
  const open = async (command: Command) => {
    if (command === own || command.parent !== program) return
    const entry = commands.find(({ name }) => name === command.name())
    if (entry !== undefined) (await entry.load()).define(command, io, () => {}, commands)
  }
  const suggestions = await suggest(program, open, words, typed)
  const lines = suggestions.words
    .filter(({ value }) => value.startsWith(typed))
    .map(({ value, description = '' }) => `${value}\t${description.replace(/\s+/g, ' ')}`)
  return `${[`:${suggestions.paths}`, ...lines].join('\n')}\n`
}

/** Splits a line into words, as shells do; the last one is being typed, empty after a blank. A quote may be open. */
export function splitLine(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (const [, single, double, escaped, blank, plain] of line.matchAll(
    /'([^']*)'?|"((?:[^"\\]|\\.)*)\\?"?|\\(.?)|(\s)|(.)/gs,
  )) {
    if (blank !== undefined) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + (single ?? double?.replace(/\\(.)/gs, '$1') ?? escaped ?? plain ?? '')
  }
  return [...words, word ?? '']
}
