import { STATUS_CODES } from 'node:http'
import type { Reply } from '../domain/messages.js'
import { isLong } from './send-long.js'

/** A header line as it was last written, of each name: most have the same value in every answer. */
const lines = new Map<string, { readonly value: string; readonly line: string }>()
const MOST_LINES = 100

const NAME = /^[A-Za-z][A-Za-z0-9-]*$/
const VALUE = /^[ -~\xa0-\xff]*$/
/** They say how a body is sent, or what becomes of the connection. */
const OF_NODE = /^(?:connection|keep-alive|transfer-encoding|trailer|upgrade|expect)$/i

/**
 * Status line and header lines of a reply that is sent as it is, at once and in one piece.
 *
 * @returns undefined where it is not, which node:http is to carry out
 */
export function plainAnswerHead(reply: Reply): string | undefined {
  const { status, headers, delayMs, fault } = reply
  // Without an exchange it is no answer of the service, and may lack a length.
  if (delayMs !== 0 || fault !== undefined || reply.exchange === undefined || isLong(reply)) return undefined
  let head = statusLines.get(status) ?? newStatusLine(status)
  if (head === '') return undefined
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    const known = lines.get(name)
    const line = known?.value === value ? known.line : newLine(name, value)
    if (line === undefined) return undefined
    head += line
  }
  return head
}

const statusLines = new Map<number, string>()

/** @returns empty for what has no body, or is no final status */
function newStatusLine(status: number): string {
  const text = STATUS_CODES[status]
  if (text === undefined || status < 200 || status === 204 || status === 304) return ''
  const line = `HTTP/1.1 ${status} ${text}\r\n`
  statusLines.set(status, line)
  return line
}

function newLine(name: string, value: string): string | undefined {
  if (!NAME.test(name) || OF_NODE.test(name) || !VALUE.test(value)) return undefined
  const line = `${name}: ${value}\r\n`
  if (lines.size >= MOST_LINES) lines.clear()
  lines.set(name, { value, line })
  return line
}
