import { fixOfCode } from '../advice/fixes.js'
import { Failure, type FailureCode } from '../domain/failures.js'
import { messageOf } from '../system/message-of.js'
import { type CliIo, EXIT, exitCodeOf } from './io.js'
import { escapeControls, escapeLines, print, printLine } from './print.js'

const USAGE_CODES: readonly string[] = ['INVALID_OPTIONS', 'INVALID_FLAG', 'USAGE'] satisfies readonly FailureCode[]

interface ErrorForm {
  readonly debug: boolean
  readonly json: boolean
  readonly seeHelp?: string
  readonly command: string
}

/** A line for each problem, `CODE: message`, or one line of JSON. @returns the exit code */
export function reportError(error: unknown, io: CliIo, { debug, json, seeHelp, command }: ErrorForm): number {
  const code = codeOf(error)
  const shownCode = code?.toUpperCase() ?? ('INTERNAL' satisfies FailureCode)
  const problems = error instanceof Failure ? error.problems : [messageOf(error)]
  const isUsage = code !== undefined && USAGE_CODES.includes(code)
  const messages = seeHelp !== undefined && isUsage ? endingWith(seeHelp, problems) : problems
  if (json) printJsonError(io, shownCode, messages.join('\n'), command)
  else {
    const isHelp = (message: string) => message === seeHelp
    for (const message of messages) printLine(io.stderr, isHelp(message) ? message : `${shownCode}: ${message}`)
    if (code === undefined && !debug)
      printLine(io.stderr, 'This is a bug. Run it again with --debug to see where it happens.')
  }
  if (debug) void print(io.stderr, `${escapeLines(process.getBuiltinModule('node:util').inspect(error))}\n`)
  return code === undefined ? EXIT.failed : exitCodeOf(code)
}

/** `--plan "gold": must be …`, `config.yaml:3:7: storm.rate: must be …`, `option '--port <n>' argument …` */
const PLACE = /^((?:\S+:\d+:\d+: )?[^\s:]+)(?: "(?:[^"\\]|\\.)*")?: |\b(?:option|argument|command) '([^' ]+)/
/** Whole commands, without the flags that a fix only names: `control stop`, `call --list`. */
const COMMANDS_IN_FIX = /`(?:petstore-sandbox )?(serve|init|call --list|(?:control|target) [a-z]+(?: [a-z]+)*)\b[^`]*`/g

/** Suggests the commands in the message and in its fix. @param command its place, if the message has no other */
export function printJsonError({ stderr }: CliIo, code: string, message: string, command: string): void {
  const [, where, word, place = where ?? word ?? command] = PLACE.exec(message) ?? []
  const fix = fixOfCode(code)
  const next = [
    ...[...message.matchAll(/See petstore-sandbox ((?:[\w-]+ )*--[a-z-]*help)\./g)].map(([, words]) => words),
    ...[...(fix ?? '').matchAll(COMMANDS_IN_FIX)].map(([, words]) => words),
  ].map((words) => `npx petstore-sandbox ${words}`)
  const error = { code, message, place, ...(fix === undefined ? {} : { fix }) }
  void print(stderr, `${escapeControls(JSON.stringify({ error, ...(next.length === 0 ? {} : { next }) }))}\n`)
}

function endingWith(help: string, [first = '', ...others]: readonly string[]): readonly string[] {
  return others.length === 0 ? [`${first}${/[.?!]$/.test(first) ? '' : '.'} ${help}`] : [first, ...others, help]
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
