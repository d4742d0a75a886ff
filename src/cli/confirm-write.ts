import { RequestError } from '../client/errors.js'
import type { Target } from '../client/target.js'
import { canAsk, confirms } from './call/stdin.js'
import type { CliIo } from './io.js'
import { escapeControls } from './print.js'

/** Without a terminal, --yes is required. @throws RequestError CONFIRMATION_NEEDED */
export async function confirmWrite(
  subject: string,
  { isProduction, baseUrl }: Pick<Target, 'isProduction' | 'baseUrl'>,
  ask: { readonly canAsk: boolean; readonly signal: AbortSignal },
  io: CliIo,
): Promise<void> {
  if (!isProduction) return
  const sentence = escapeControls(`${subject} writes to production (${baseUrl})`)
  if (!ask.canAsk || !canAsk() || io.stderr.isTTY !== true)
    throw new RequestError('CONFIRMATION_NEEDED', [`${sentence}. Confirm with --yes.`])
  if (await confirms(`${sentence}. Send it?`, io.stderr, ask.signal)) return
  ask.signal.throwIfAborted()
  throw new RequestError('CONFIRMATION_NEEDED', ['Nothing was sent: the write was not confirmed.'])
}
