import { Argument, type Command } from 'commander'
import { packageText } from '../system/package-files.js'
import { explain } from './help.js'
import { type CliIo, EXIT } from './io.js'
import { print } from './print.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const

const NOTES = `\
Prints a script that also completes "npx petstore-sandbox". Save it, and again
after an update:
  bash: ~/.petstore-sandbox.bash; source it in ~/.bashrc
  zsh: ~/.petstore-sandbox.zsh; source it in ~/.zshrc after compinit
  fish: ~/.config/fish/conf.d/petstore-sandbox.fish`

export function define(command: Command, io: CliIo, finish: (exitCode: number) => void): void {
  explain(command, { examples: ['petstore-sandbox completion bash'], notes: NOTES })
    .addArgument(new Argument('<shell>', 'the shell to complete in').choices(SHELLS))
    .option('--debug', 'show stack traces')
    .action(async (shell: (typeof SHELLS)[number]) => {
      await print(io.stdout, packageText(`dist/completion/petstore-sandbox.${shell}`))
      finish(EXIT.ok)
    })
}
