import { RequestError } from '../client/errors.js'
import type { FailureCode } from '../domain/failures.js'
import { OptionsError } from '../options/options-error.js'
import { messageOf } from '../system/message-of.js'
import { escapeLines } from './escape-controls.js'
import { EXIT, exitCodeOf } from './exit-codes.js'
import type { CliIo } from './io.js'
import { print, printLine } from './print.js'

const USAGE_CODES: readonly string[] = ['INVALID_OPTIONS', 'INVALID_FLAG'] satisfies readonly FailureCode[]

/** A line for each problem: `CODE: message`. @param debug also prints the stack @returns the exit code */
export function reportError(error: unknown, io: CliIo, debug: boolean, seeHelp?: string): number {
  const code = codeOf(error)
  const messages = error instanceof OptionsError || error instanceof RequestError ? error.problems : [messageOf(error)]
  const help = seeHelp !== undefined && code !== undefined && USAGE_CODES.includes(code) ? seeHelp : undefined
  const lines = messages.map((message) => `${code ?? ('INTERNAL' satisfies FailureCode)}: ${message}`)
  for (const line of help === undefined ? lines : endingWith(help, lines)) printLine(io.stderr, line)
  if (code === undefined && !debug)
    printLine(io.stderr, 'This is a bug. Run it again with --debug to see where it happens.')
  if (debug) void print(io.stderr, `${escapeLines(process.getBuiltinModule('node:util').inspect(error))}\n`)
  return code === undefined ? EXIT.failed : exitCodeOf(code)
}

function endingWith(help: string, [first = '', ...others]: readonly string[]): readonly string[] {
  return others.length === 0 ? [`${first}${/[.?!]$/.test(first) ? '' : '.'} ${help}`] : [first, ...others, help]
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
