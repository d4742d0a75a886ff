import { DEFAULT_SOURCE, type Target } from '../client/target.js'
import { Failure } from '../domain/failures.js'
import { askToConfirm, canAsk } from './call/stdin.js'
import type { CliIo } from './io.js'
import { escapeControls } from './print.js'

/** Without a terminal, --yes is required. @throws Failure CONFIRMATION_NEEDED */
export async function confirmWrite(
  subject: string,
  { isProduction, baseUrl }: Pick<Target, 'isProduction' | 'baseUrl'>,
  ask: { readonly canAsk: boolean; readonly signal: AbortSignal },
  io: CliIo,
): Promise<void> {
  if (!isProduction) return
  const sentence = escapeControls(`${subject} writes to production (${baseUrl})`)
  if (!ask.canAsk || !canAsk() || io.stderr.isTTY !== true)
    throw new Failure('CONFIRMATION_NEEDED', [`${sentence}. Confirm with --yes.`])
  if (await askToConfirm(`${sentence}. Send it?`, io.stderr, ask.signal)) return
  ask.signal.throwIfAborted()
  throw new Failure('CONFIRMATION_NEEDED', ['Nothing was sent: the write was not confirmed.'])
}

/** As `control` does: the sandbox on the default port may be another folder's. @throws Failure NO_SANDBOX */
export function refuseUnknownSandbox(subject: string, { baseUrl, sources }: Pick<Target, 'baseUrl' | 'sources'>): void {
  if (sources.baseUrl !== DEFAULT_SOURCE) return
  const sentence = `No sandbox was started in this folder, and ${subject} changes data`
  throw new Failure('NO_SANDBOX', `${sentence}. Start one here, or name it: --base-url ${baseUrl}`)
}
