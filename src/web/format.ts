import { signal } from '@preact/signals'

/** Of every time on the page. */
export const zone = signal<'UTC' | 'local'>('UTC')

export function isoInZone(at: number): string {
  return new Date(zone.value === 'UTC' ? at : at - new Date(at).getTimezoneOffset() * 60_000).toISOString()
}

/** `12:00:01`, or with milliseconds */
export function timeText(at: number, withMilliseconds = false): string {
  return isoInZone(at).slice(11, withMilliseconds ? 23 : 19)
}

/** Of an end, rounded up as Retry-After is, so that one instant has one text. */
export function endText(at: number): string {
  return timeText(Math.ceil(at / 1000) * 1000)
}

/** Time left: `0:42`, `4:05`, `1:00:00`, `2 d 3 h`. Rounded up. */
export function countdownText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  const hours = Math.floor(seconds / 3600)
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`
  const minutes = Math.floor(seconds / 60) % 60
  const parts = hours === 0 ? [minutes, seconds % 60] : [hours, minutes, seconds % 60]
  return parts.map((part, index) => (index === 0 ? part : String(part).padStart(2, '0'))).join(':')
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Code and message in an error of the sandbox; empty in any other body. */
export function errorIn(body: string): { readonly code: string; readonly message: string } {
  try {
    const { code = '', message = '' } = Object(JSON.parse(body))
    return { code: String(code), message: String(message) }
  } catch {
    return { code: '', message: '' }
  }
}

/** A token of JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g

/** Indents JSON; leaves other text unchanged. Only changes whitespace: 1.0, repeated names and all digits stay. */
export function readableBody(body: string): string {
  try {
    JSON.parse(body)
  } catch {
    return body
  }
  let text = ''
  let depth = 0
  let before = ''
  for (const [token] of body.matchAll(TOKEN)) {
    const closes = token === '}' || token === ']'
    const followsOpening = before === '{' || before === '['
    if (closes) depth--
    if (closes ? !followsOpening : followsOpening || before === ',') text += `\n${'  '.repeat(depth)}`
    text += token === ':' ? ': ' : token
    if (token === '{' || token === '[') depth++
    before = token
  }
  return text
}
