import { parseDuration } from '../domain/time.js'
import type { Exchange } from '../exchanges/exchange-view.js'
import { systemClock } from '../system/system-clock.js'
import { setTimeout } from '../system/timers.js'
import { ControlError } from './control-error.js'
import { exchangeLines } from './exchange-lines.js'
import type { RequestFilter, WaitOptions } from './request-filter.js'

const LOOK_EVERY_MS = 20

type ListRequests = (verb: 'requests.list', filter: RequestFilter) => Promise<readonly Exchange[]>

/** Waits for a request in the log that matches, and returns the first. @throws ControlError `timeout` */
export async function waitForRequest(
  list: ListRequests,
  filter: RequestFilter = {},
  { timeout = '5s' }: WaitOptions = {},
): Promise<Exchange> {
  const limit = parseDuration(timeout)
  if (limit === undefined)
    throw new ControlError('invalid_request', `timeout ${JSON.stringify(timeout)}: must be a duration such as 10s.`)
  const end = systemClock.monotonic() + limit
  for (;;) {
    const [first] = await logged(list, filter)
    if (first !== undefined) return first
    if (systemClock.monotonic() >= end) break
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  const lines = exchangeLines(await logged(list, {}))
  throw new ControlError('timeout', `No request matched ${JSON.stringify(filter)} within ${timeout}. ${lines}`)
}

/** A space without requests may not be open yet. */
function logged(list: ListRequests, filter: RequestFilter): Promise<readonly Exchange[]> {
  return list('requests.list', filter).catch((error) => {
    if (error instanceof ControlError && error.code === 'not_found') return []
    throw error
  })
}
