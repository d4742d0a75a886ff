import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { RequestError } from '../client/errors.js'
import type { Target } from '../client/target.js'
import { escapeControls } from './escape-controls.js'
import type { CliIo, Output } from './io.js'

export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

function canAsk(): boolean {
  return process.stdin.isTTY === true
}

async function confirms(question: string, output: Output, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output })
  // In raw mode, Ctrl-C arrives here and not as a signal.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    // Ctrl-D closes the terminal: no.
    const closed = once(terminal, 'close').then(() => '')
    const response = await Promise.race([terminal.question(`${question} [y/N] `, { signal }), closed])
    return /^y(?:es)?$/i.test(response.trim())
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') return false
    throw error
  } finally {
    terminal.close()
  }
}

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
