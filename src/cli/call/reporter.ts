import type { ServiceAnswer } from '../../client/exchange.js'
import { stringifyJson } from '../../contract/json.js'
import { chalkFor, colourLevel } from '../colour.js'
import { escapeControls } from '../escape-controls.js'
import type { CliIo } from '../io.js'
import { print } from '../print.js'
import type { CallFailure } from './call-failure.js'
import { showBody } from './show-answer.js'

/** Everything that `call` says besides its result. */
export interface Reporter {
  warning(message: string): void
  note(message: string): void
  detail(lines: readonly string[]): void
  breach(message: string): void
  /** On a terminal: head, body and what it means. Otherwise one JSON line that holds the body. */
  failure(failure: CallFailure, answer?: ServiceAnswer, head?: readonly string[]): Promise<void>
}

export async function openReporter({ stderr, env }: CliIo): Promise<Reporter> {
  const level = colourLevel(stderr, env)
  const chalk = level === 0 ? undefined : await chalkFor(level)
  const plain = (text: string) => text
  const { red, yellow, dim } = chalk ?? { red: plain, yellow: plain, dim: plain }
  const line = (text: string) => void print(stderr, `${text}\n`)
  return {
    warning: (message) => line(`${yellow('warning:')} ${escapeControls(message)}`),
    note: (message) => line(`note: ${escapeControls(message)}`),
    detail: (lines) => {
      for (const one of lines) line(dim(one))
    },
    breach: (message) => line(`${red('CONTRACT_BREACH:')} ${escapeControls(message)}`),
    async failure(failure, answer, head = []) {
      if (stderr.isTTY !== true) {
        await print(
          stderr,
          `${escapeControls(stringifyJson({ error: { ...failure, ...(head.length === 0 ? {} : { head }) } }))}\n`,
        )
        return
      }
      for (const one of head) line(one)
      if (answer !== undefined) {
        const { bytes } = await showBody(answer, 'json', true)
        if (bytes.length > 0) await print(stderr, String(bytes))
      }
      const { code, status, title, detail = title, attempts, hint } = failure
      const tries = attempts > 1 ? ` after ${attempts} attempts` : ''
      const http = status === undefined ? '' : ` (HTTP ${status}${tries})`
      line(`${red(`${escapeControls(code)}:`)} ${escapeControls(detail)}${status === undefined ? tries : http}`)
      if (hint !== undefined) line(escapeControls(hint))
    },
  }
}
