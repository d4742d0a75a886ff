import { validateHeaderValue } from 'node:http'
import type { Reply } from '../domain/messages.js'
import { errorBody, PROBLEMS } from '../domain/problems.js'

/** Headers that every answer of the service has, whatever else is wrong with this one. */
const COMMON = /^(?:Date|Vary|X-RateLimit-\w+|Access-Control-[\w-]+)$/

/** What is sent instead of a reply that node:http refuses to send. */
export function failedReply({ headers }: Reply): { status: number; headers: string[]; body: string } {
  const { status, message } = PROBLEMS.internal_error
  const body = errorBody('internal_error', message, status)
  const kept = ['Content-Type', 'application/json', 'Content-Length', String(body.length)]
  for (let i = 0; i < headers.length; i += 2) {
    const [name = '', value = ''] = headers.slice(i, i + 2)
    if (COMMON.test(name) && isSendable(name, value)) kept.push(name, value)
  }
  return { status, headers: kept, body }
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}
