import { Command, CommanderError } from 'commander'
import { packageVersion } from '../system/package-files.js'
import { COMMANDS } from './commands.js'
import { escapeLines } from './escape-controls.js'
import { EXIT, EXIT_CODES_HELP } from './exit-codes.js'
import type { CliIo } from './io.js'
import { print, say } from './print.js'
import { reportError } from './report-error.js'

const DEFAULT_WIDTH = 80

/**
 * Runs one command line.
 *
 * @param argv what follows the program's name
 * @returns the exit code
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok
  const finish = (code: number) => {
    exitCode = code
  }
  const program = createProgram(io)
  try {
    for (const { name, summary, load } of COMMANDS) {
      const command = program.command(name).description(summary)
      if (isAskedFor(name, argv)) (await load()).define(command, io, finish, COMMANDS)
    }
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    // Help and version end up here too, and commander has already printed everything.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    return reportError(error, io, wantsDebug(argv, io))
  }
}

function createProgram(io: CliIo): Command {
  const { stdout, stderr } = io
  return new Command('petstore-sandbox')
    .description('A local, stateful sandbox of the animal store service.')
    .version(packageVersion, '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', `\n${EXIT_CODES_HELP}`)
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      // A contract that was given has its say in the help.
      writeOut: (text) => void print(stdout, escapeLines(text)),
      writeErr: (text) => void print(stderr, escapeLines(text)),
      outputError: (text) =>
        say(
          stderr,
          text
            .trimEnd()
            .replace(/^error: /, 'USAGE: ')
            .replaceAll('\n', ' '),
        ),
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
}

/** True for `serve …` and `help serve`. If the name is merely an argument, one module is loaded in vain. */
function isAskedFor(name: string, argv: readonly string[]): boolean {
  return argv.slice(0, 2).includes(name)
}

/** Whether to print stacks. Errors can come before the flags are parsed, so argv is searched. */
function wantsDebug(argv: readonly string[], io: CliIo): boolean {
  const end = argv.indexOf('--')
  const own = end === -1 ? argv : argv.slice(0, end)
  return own.includes('--debug') || /^(?:1|true|yes|on)$/i.test(io.env.PETSTORE_SANDBOX_DEBUG ?? '')
}
