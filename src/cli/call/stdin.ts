import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Output } from '../io.js'

export async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

export function canAsk(): boolean {
  return process.stdin.isTTY === true
}

export async function askToConfirm(question: string, output: Output, signal: AbortSignal): Promise<boolean> {
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
