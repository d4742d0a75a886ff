import { readRetryAfter } from '../../domain/retry-after.js'
import { MINUTE_MS } from '../../domain/time.js'
import type { Exchange } from '../../exchanges/exchange-view.js'

/**
 * The requests that led to a ban: those of its key that came too early, the last of which brought it.
 *
 * @param exchanges that are known, oldest first
 * @param banned    one that the ban refused, also a later one
 * @param banAfter  how many early requests make a ban
 * @returns ids, oldest first; none where the ban was no doing of the client, or where too little is known
 * @source docs/behaviour.md, "when a key is banned"
 */
export function ledToBan(exchanges: readonly Exchange[], banned: Exchange, banAfter: number): readonly number[] {
  let waitUntil = 0
  let early: readonly { readonly id: number; readonly at: number; readonly until: number }[] = []
  let led: readonly number[] = []
  let isBanned = false
  for (const { id, at: text, key, reason, status, response } of exchanges) {
    if (key !== banned.key || id > banned.id) continue
    const at = Date.parse(text)
    early = early.filter((one) => one.until > at && one.at > at - MINUTE_MS)
    if (reason === 'ban') {
      if (!isBanned) led = [...early.map((one) => one.id).slice(1 - banAfter), id]
      isBanned = true
      early = []
      continue
    }
    isBanned = false
    const wait = readRetryAfter(response.headers['retry-after'], response.headers.date, at)
    if (status !== 429 || reason === 'forced' || wait === undefined) continue
    const until = at + wait
    if (waitUntil > at) early = [...early, { id, at, until }]
    waitUntil = Math.max(waitUntil, until)
  }
  return led.length === banAfter ? led : []
}
