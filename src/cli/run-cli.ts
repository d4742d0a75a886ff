import { Command, CommanderError } from 'commander'
import { EXAMPLE } from '../contract/generated/examples.js'
import { packageVersion } from '../system/package-files.js'
import { addHelpCommand, commandPath, explain, HELP_FORMAT, passesThrough, seeHelp, usageMessage } from './help.js'
import { type CliIo, type CommandEntry, EXIT, EXIT_CODES_HELP } from './io.js'
import { escapeLines, print, printLine } from './print.js'
import { printJsonError, reportError } from './report-error.js'
import { define as defineServe } from './serve.js'

const DEFAULT_WIDTH = 80

const EXAMPLES: readonly string[] = [
  'petstore-sandbox serve',
  `petstore-sandbox call ${EXAMPLE.list} --limit 5`,
  'petstore-sandbox control clock advance 1m',
  'petstore-sandbox exec -- npm test',
  'petstore-sandbox help control clock',
]

export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = EXIT.ok
  const finish = (code: number) => {
    exitCode = code
  }
  const printed: Promise<unknown>[] = []
  const program = createProgram(io, argv, printed)
  let reached: Command | undefined
  program.hook('preAction', (_, command) => {
    reached = command
  })
  try {
    for (const { name, summary, load } of COMMANDS) {
      const command = program.command(name).description(summary)
      if (isAskedFor(name, argv)) (await load()).define(command, io, finish)
    }
    addHelpCommand(program)
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    // Also for help and version; commander has already printed everything.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
    return reportError(error, io, {
      debug: wantsDebug(argv, io),
      json: wantsJsonErrors(ownArguments(argv, reached)),
      command: commandPath(reached ?? program),
      ...(reached && { seeHelp: seeHelp(reached) }),
    })
  } finally {
    await Promise.all(printed)
  }
}

class OwnCommand extends Command {
  override createCommand(name?: string): Command {
    return new OwnCommand(name)
  }

  override error(message: string, options?: { readonly code?: string; readonly exitCode?: number }): never {
    return super.error(usageMessage(this, message, options?.code), { ...options })
  }
}

/** @param printed gets what commander prints, which does not wait for it */
function createProgram(io: CliIo, argv: readonly string[], printed: Promise<unknown>[]): Command {
  const { stdout, stderr } = io
  const program = new OwnCommand('petstore-sandbox')
    .description('a local, stateful sandbox of the animal store service')
    .version(packageVersion, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .configureHelp(HELP_FORMAT)
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      // The help shows texts of a contract that the user has given.
      writeOut: (text) => void printed.push(print(stdout, escapeLines(text))),
      writeErr: (text) => void printed.push(print(stderr, escapeLines(text))),
      outputError: (text) => {
        const message = text.trimEnd()
        if (wantsJsonErrors(ownArguments(argv))) printJsonError(io, 'USAGE', message, program.name())
        else printLine(stderr, `USAGE: ${message}`)
      },
      getOutHelpWidth: () => stdout.columns ?? DEFAULT_WIDTH,
      getErrHelpWidth: () => stderr.columns ?? DEFAULT_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
  return explain(program, { examples: EXAMPLES, notes: EXIT_CODES_HELP })
}

/** True for `serve …` and `help serve`. If the name is only an argument, its module is loaded in vain. */
function isAskedFor(name: string, argv: readonly string[]): boolean {
  return argv.slice(0, 2).includes(name)
}

/** Errors can come before the flags are parsed, so this searches argv. */
function wantsDebug(argv: readonly string[], io: CliIo): boolean {
  return ownArguments(argv).includes('--debug') || /^(?:1|true|yes|on)$/i.test(io.env.PETSTORE_SANDBOX_DEBUG ?? '')
}

function wantsJsonErrors(own: readonly string[]): boolean {
  return /(?:^| )(?:--json|(?:-o|--output)[ =]?json)(?: |$)/.test(own.join(' '))
}

/** Without the command that `exec` and `conform` run. */
function ownArguments(argv: readonly string[], reached?: Command): readonly string[] {
  const end = argv.indexOf('--')
  if (end !== -1) return argv.slice(0, end)
  return reached !== undefined && passesThrough(reached) ? argv.slice(0, argv.length - reached.args.length) : argv
}

const entry = (name: string, summary: string, load: CommandEntry['load']): CommandEntry => ({ name, summary, load })

/** All commands, in the order of the help. `serve` is loaded at once, because it must start fast. */
export const COMMANDS: readonly CommandEntry[] = [
  entry('serve', 'start the sandbox and keep it running', async () => ({ define: defineServe })),
  entry('call', 'call an operation of the sandbox, staging or production', () => import('./call.js')),
  entry('exec', 'start a sandbox, run a command against it, stop it', () => import('./exec.js')),
  entry('conform', 'test a client against named failures', () => import('./conform.js')),
  entry('verify', 'check an instance (mock or real) against the contract', () => import('./verify.js')),
  entry('control', 'control a running sandbox: reset, clock, storm, ban, keys …', () => import('./control.js')),
  entry('target', 'manage base addresses and their API keys', () => import('./target.js')),
  entry('init', 'write a config file and editable fixtures here', () => import('./init.js')),
  entry('completion', 'complete commands in bash, zsh or fish', () => import('./completion.js')),
]
