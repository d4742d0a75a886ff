import type { ChalkInstance } from 'chalk'
import { DEFAULT_KEY } from '../domain/keys.js'
import type { Reason } from '../domain/reasons.js'
import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { exchangeFacts } from '../exchanges/exchange-view.js'
import { escapeControls } from './escape-controls.js'

const LONGEST_TARGET = 100
const TARGET_WIDTH = 28

/** One exchange as a line for people. */
export function prettyExchange(record: ExchangeRecord, chalk: ChalkInstance): string {
  const { at, method, status, operation, key, space, remaining, durationMs, reason } = record
  const facts = [
    ...(operation === undefined ? [] : [operation]),
    space === '' ? key : `${key}~${space}`,
    `${remaining} left`,
    `${durationMs.toFixed(1)} ms`,
    ...(reason === undefined ? [] : [reason]),
  ].join(' · ')
  const hint = status === 429 ? hintFor(reason, record) : undefined
  return [
    chalk.dim(new Date(at).toISOString().slice(11, 23)),
    colourOf(status, chalk)(status === undefined ? '---' : escapeControls(String(status))),
    escapeControls(method).padEnd(4),
    shortened(escapeControls(targetOf(record))).padEnd(TARGET_WIDTH),
    chalk.dim(escapeControls(facts)),
    ...(hint === undefined ? [] : [chalk.dim(`→ ${hint}`)]),
  ]
    .join('  ')
    .trimEnd()
}

/** One exchange as a JSON line; headers and bodies are in the control plane's log only. */
export function jsonExchange(record: ExchangeRecord): string {
  return escapeControls(JSON.stringify({ event: 'exchange', ...exchangeFacts(record), remaining: record.remaining }))
}

function targetOf({ path, query }: ExchangeRecord): string {
  return query === '' ? path : `${path}?${query}`
}

function shortened(text: string): string {
  return text.length > LONGEST_TARGET ? `${text.slice(0, LONGEST_TARGET - 1)}…` : text
}

function colourOf(status: number | undefined, chalk: ChalkInstance): (text: string) => string {
  if (status === undefined) return chalk.magenta
  if (status >= 500) return chalk.red
  if (status >= 400) return chalk.yellow
  return status >= 300 ? chalk.cyan : chalk.green
}

/** What would help against a 429; undefined if the client forced it. */
function hintFor(reason: Reason | undefined, { key, space }: ExchangeRecord): string | undefined {
  const control = `petstore-sandbox control${space === '' ? '' : ` --space ${escapeControls(space)}`}`
  switch (reason) {
    case 'quota-minute':
    case 'quota-day':
      if (key === 'sandbox-limited') return 'this key is always out of quota; use another'
      return key === DEFAULT_KEY ? `serve with a larger --plan, or: ${control} reset` : `${control} reset`
    case 'ban':
      return key === 'sandbox-banned'
        ? 'this key is always banned; use another'
        : `${control} unban ${escapeControls(key)}`
    case 'storm':
      return `${control} storm stop`
    case 'fault':
      return `${control} fault clear`
    default:
      return undefined
  }
}
