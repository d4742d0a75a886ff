import type { ServiceResponse } from '../../client/exchange.js'
import type { RetryWait } from '../../client/send.js'
import { stringifyJson } from '../../contract/json.js'
import { formatDuration } from '../../domain/time.js'
import { colourLevel, coloursFor } from '../colour.js'
import { escapeControls } from '../escape-controls.js'
import type { CliIo } from '../io.js'
import { print } from '../print.js'
import type { CallFailure } from './failure.js'
import { showBody } from './show.js'

export type Reporter = Awaited<ReturnType<typeof openReporter>>

export async function openReporter({ stderr, env }: CliIo) {
  const { red, yellow, dim } = await coloursFor(colourLevel(stderr, env))
  const isTTY = stderr.isTTY === true
  const line = (text: string) => void print(stderr, `${text}\n`)
  return {
    warning: (message: string) => line(`${yellow('warning:')} ${escapeControls(message)}`),
    note: (message: string) => line(`note: ${escapeControls(message)}`),
    violation: (message: string) => line(`${red('CONTRACT_VIOLATION:')} ${escapeControls(message)}`),
    detail(lines: readonly string[]): void {
      for (const one of lines) line(dim(one))
    },
    retry({ wait, because, attempt, attempts }: RetryWait, fix: string | undefined): void {
      if (isTTY && fix !== undefined)
        line(dim(escapeControls(`No need to wait: press Ctrl-C, run "${fix}", and call again.`)))
      line(escapeControls(`note: ${because}; attempt ${attempt} of ${attempts} in ${formatDuration(wait)}`))
    },
    /** Off a terminal, one JSON line that includes the body. @param next a command that would help */
    async failure(
      failure: CallFailure,
      response?: ServiceResponse,
      head: readonly string[] = [],
      next?: string,
    ): Promise<void> {
      if (!isTTY) {
        const { title, detail: message = title, method, url, hint } = failure
        const error = {
          ...{ ...failure, message, place: `${method} ${url}` },
          ...(hint === undefined ? {} : { fix: hint }),
          ...(head.length === 0 ? {} : { head }),
        }
        const whole = { error, ...(next === undefined ? {} : { next: [next] }) }
        await print(stderr, `${escapeControls(stringifyJson(whole))}\n`)
        return
      }
      for (const one of head) line(one)
      if (response !== undefined) {
        const { bytes } = await showBody(response, 'json', stderr, env)
        if (bytes.length > 0) await print(stderr, String(bytes))
      }
      const { code, status, title, detail = title, attempts, hint } = failure
      const tries = attempts > 1 ? ` after ${attempts} attempts` : ''
      const after = status === undefined ? tries : ` (HTTP ${status}${tries})`
      line(`${red(`${escapeControls(code)}:`)} ${escapeControls(detail)}${after}`)
      if (hint !== undefined) line(escapeControls(hint))
    },
  }
}
