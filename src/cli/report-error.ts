import type { FailureCode } from '../domain/failures.js'
import { OptionsError } from '../options/options-error.js'
import { messageOf } from '../system/message-of.js'
import { escapeControls, escapeLines } from './escape-controls.js'
import { EXIT, exitCodeOf } from './exit-codes.js'
import type { CliIo } from './io.js'
import { print } from './print.js'

/**
 * Reports on stderr why a command failed: `CODE: message`, one line per problem.
 *
 * @param debug also prints the stack
 * @returns the exit code
 */
export function reportError(error: unknown, io: CliIo, debug: boolean): number {
  const code = codeOf(error)
  const messages = error instanceof OptionsError ? error.problems : [messageOf(error)]
  const lines = messages.map((message) => escapeControls(`${code ?? ('INTERNAL' satisfies FailureCode)}: ${message}`))
  if (code === undefined && !debug) lines.push('This is a bug. Run it again with --debug to see where it happens.')
  if (debug) lines.push(escapeLines(process.getBuiltinModule('node:util').inspect(error)))
  void print(io.stderr, `${lines.join('\n')}\n`)
  return code === undefined ? EXIT.failed : exitCodeOf(code)
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
