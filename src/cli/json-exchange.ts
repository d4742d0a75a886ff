import type { ExchangeRecord } from '../exchanges/exchange-record.js'
import { exchangeFacts } from '../exchanges/exchange-view.js'
import { escapeControls } from './escape-controls.js'

/** One exchange as a JSON line; headers and bodies are in the control plane's log only. */
export function jsonExchange(record: ExchangeRecord): string {
  return escapeControls(JSON.stringify({ event: 'exchange', ...exchangeFacts(record), remaining: record.remaining }))
}
