import type { ServiceAnswer } from '../../client/exchange.js'
import { type RetryWait, secondsOf } from '../../client/send.js'
import { stringifyJson } from '../../contract/json.js'
import { formatDuration, SECOND_MS } from '../../domain/time.js'
import { chalkFor, colourLevel } from '../colour.js'
import { escapeControls } from '../escape-controls.js'
import type { CliIo } from '../io.js'
import { overwrite, print } from '../print.js'
import type { CallFailure } from './call-failure.js'
import { showBody } from './show-answer.js'

/** Everything that `call` says besides its result. */
export interface Reporter {
  warning(message: string): void
  note(message: string): void
  /** Says that there is a wait: on a terminal as a countdown, with what would end it. @returns to be called when it is over */
  countdown(wait: RetryWait, cure: string | undefined): () => void
  detail(lines: readonly string[]): void
  breach(message: string): void
  /** On a terminal: head, body and what it means. Otherwise one JSON line that holds the body. */
  failure(failure: CallFailure, answer?: ServiceAnswer, head?: readonly string[]): Promise<void>
}

export async function openReporter({ stderr, env, monotonic }: CliIo): Promise<Reporter> {
  const level = colourLevel(stderr, env)
  const chalk = level === 0 ? undefined : await chalkFor(level)
  const plain = (text: string) => text
  const { red, yellow, dim } = chalk ?? { red: plain, yellow: plain, dim: plain }
  const line = (text: string) => void print(stderr, `${text}\n`)
  return {
    warning: (message) => line(`${yellow('warning:')} ${escapeControls(message)}`),
    note: (message) => line(`note: ${escapeControls(message)}`),
    countdown({ wait, because, attempt, attempts }, cure) {
      const told = (left: string) => `note: ${because}; attempt ${attempt} of ${attempts} ${left}`
      if (stderr.isTTY !== true) {
        line(escapeControls(told(`in ${formatDuration(wait)}`)))
        return () => {}
      }
      if (cure !== undefined) line(dim(escapeControls(`No need to wait: press Ctrl-C, run "${cure}", and call again.`)))
      const end = monotonic() + wait
      const show = () => overwrite(stderr, told(`in ${secondsOf(Math.max(0, end - monotonic()))} s`))
      show()
      const ticks = setInterval(show, SECOND_MS)
      return () => {
        clearInterval(ticks)
        overwrite(stderr, told('now'))
        line('')
      }
    },
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
        const { bytes } = await showBody(answer, 'json', stderr, env)
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
