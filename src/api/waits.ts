import { ControlError } from '../control/control-error.js'
import type { ClockView, StateView } from '../control/views.js'
import { addressOf } from '../domain/space-address.js'
import { type DurationMs, type DurationText, parseDuration } from '../domain/time.js'
import type { Exchange } from '../exchanges/exchange-record.js'
import { setTimeout, systemClock } from '../system/system-clock.js'
import { countConnecting, newChannel } from '../system/this-process.js'
import type { SpaceMethods } from './generated/methods.js'
import type { FakeTimers, PageClock, RequestFilter, WaitOptions } from './inputs.js'

interface Methods extends Pick<SpaceMethods, 'clock' | 'requests'> {
  look(): Promise<StateView>
}

/** Event loop turns for a client to read a response, parse its body and set a timer. */
const TURNS = 8
/** Looks at the log without a new request until the clients count as idle. */
const QUIET_LOOKS = 2
const QUIET_LOOKS_OF_A_PAGE = 1
/** A client that never waits between requests must not hold up the clock. */
const MAX_LOOKS = 100
/** More looks while a response is delayed by latency: five seconds. A handler that waits by fake timers never ends. */
const MAX_PAUSES = 250
/** Shortest step, in milliseconds. */
const MIN_STEP_MS = 10
/** Its part of the time since the last request. A timer then runs late by at most this part of its wait. */
const STEP_PART = 0.1
/** After this number of steps, a client that polls all the time makes no more than as many again. */
const MAX_SHORT_STEPS = 1000

/**
 * Advances the clock of a space and fake timers together, in steps. In each, the sandbox's clock moves first, so that no
 * client is early, then the timers, then clients handle their responses. A step leads to the next timer, or, if the tool
 * does not tell when that is due, through a part of the time since the last request.
 *
 * @throws the error of the timers if they are not faked; no clock has moved then
 */
export async function advanceInLockstep(by: DurationText, timers: FakeTimers, methods: Methods): Promise<ClockView> {
  const { clock } = methods
  const total = parseDuration(by)
  // The verb rejects it, with its own message.
  if (total === undefined) return clock.advance(by)
  await move(timers, 0)
  // Opens the space.
  await clock.set({})
  // A round trip to a page takes as long as its requests do, also on a busy machine.
  const turn = 'runFor' in timers ? () => move(timers, 0).then(afterTurns) : afterTurns
  let seen = await settle(methods, NOTHING, turn, QUIET_LOOKS)
  let sinceRequest = 0
  let left = total
  for (let steps = 0; left > 0; steps++) {
    const shortest = steps < MAX_SHORT_STEPS ? MIN_STEP_MS : total / MAX_SHORT_STEPS
    const step = Math.min(Math.ceil(Math.max(shortest, sinceRequest * STEP_PART, dueIn(timers) ?? 0)), left)
    await clock.advance(`${step}ms`)
    await move(timers, step)
    const before = seen
    seen = await settle(methods, before, turn, QUIET_LOOKS)
    sinceRequest = seen.requests === before.requests ? sinceRequest + step : 0
    left -= step
  }
  return clock.show()
}

/** What @sinonjs/fake-timers keeps, which Vitest and Jest use: a clock at each function that it replaces. */
interface SinonClock {
  readonly now: number
  readonly countTimers: unknown
  readonly timers?: ReadonlyMap<unknown, SinonTimer> | Readonly<Record<string, SinonTimer>>
}
interface SinonTimer {
  readonly callAt: number
  readonly func?: { readonly name: string }
}

/** Timers of undici, which is Node's `fetch`: they keep its connections, and send nothing. */
const OF_CONNECTIONS = ['onTick', 'onParserTimeout']

/** @returns the time until the next timer, Infinity without one, or undefined if it cannot be known */
function dueIn(timers: FakeTimers): DurationMs | undefined {
  const given: unknown = 'advanceTimersByTimeAsync' in timers ? Object(globalThis.setTimeout).clock : timers
  const { now, countTimers, timers: pending = {} } = Object(given) as Partial<SinonClock>
  if (now === undefined || countTimers === undefined) return undefined
  const all: readonly SinonTimer[] = [...(pending instanceof Map ? pending.values() : Object.values(pending))]
  const ofClients = all.filter(({ func }) => !OF_CONNECTIONS.includes(func?.name ?? ''))
  const due = ofClients.reduce((first, { callAt }) => Math.min(first, callAt), Number.POSITIVE_INFINITY) - now
  return Number.isNaN(due) ? undefined : due
}

/** Steps of a page's clock. The page handles responses during a step, which takes real time. */
const PAGE_STEPS = 6
/** Real time for a page to send a request, or to handle a response. */
const PAGE_TURN_MS: DurationMs = 5

/** Advances the clock of a space and the clock of a page together, in few steps: the sandbox's first. */
export async function advanceWithPage(by: DurationText, page: PageClock, methods: Methods): Promise<ClockView> {
  const { clock } = methods
  const total = parseDuration(by)
  // The verb rejects it, with its own message.
  if (total === undefined) return clock.advance(by)
  let left = total
  let seen = NOTHING
  for (let steps = PAGE_STEPS; steps > 0; steps--) {
    const step = Math.round(left / steps)
    await clock.advance(`${step}ms`)
    await page.runFor(step)
    seen = await settle(methods, seen, () => pause(PAGE_TURN_MS), QUIET_LOOKS_OF_A_PAGE)
    left -= step
  }
  return clock.show()
}

async function move(timers: FakeTimers, by: number): Promise<void> {
  if ('advanceTimersByTimeAsync' in timers) await timers.advanceTimersByTimeAsync(by)
  else if ('tickAsync' in timers) await timers.tickAsync(by)
  else if ('runFor' in timers) await timers.runFor(by)
  else timers.tick(by)
}

interface Seen {
  readonly requests: number
  /** Requests and new connections that stayed open until the last look, such as those that hang. */
  readonly open: number
}
const NOTHING: Seen = { requests: 0, open: 0 }

/**
 * Waits until no client sends a request or waits for a response any more.
 * @param seen before
 * @param turn lets clients handle their responses
 * @returns seen at the last look
 */
async function settle(
  { look, requests: list }: Methods,
  seen: Seen,
  turn: () => Promise<void>,
  quietLooks: number,
): Promise<Seen> {
  let { requests } = seen
  let open = 0
  for (let looks = 1, quiet = 0; quiet < quietLooks; looks++) {
    await turn()
    const connecting = countConnecting()
    const { counts } = await look()
    open = counts.open + connecting
    quiet = counts.requests === requests && open <= seen.open ? quiet + 1 : 0
    requests = counts.requests
    if (looks < MAX_LOOKS) continue
    const isDelayed = open > seen.open && (await list()).some(({ ended, fault }) => ended === null && fault !== 'hang')
    if (!isDelayed || looks >= MAX_LOOKS + MAX_PAUSES) break
    await pause(LOOK_EVERY_MS)
  }
  return { requests, open }
}

async function afterTurns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await nextTurn()
}

/** One turn of the event loop. A message, because test tools fake setImmediate. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = newChannel()
    const onmessage = () => {
      port1.close()
      resolve()
    }
    Object.assign(port1, { onmessage })
    port2.postMessage(null)
  })
}

const LOOK_EVERY_MS: DurationMs = 20

function pause(duration: DurationMs): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration))
}

type ListRequests = (filter: RequestFilter) => Promise<readonly Exchange[]>

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
    await pause(LOOK_EVERY_MS)
  }
  const lines = exchangeLines(await logged(list, {}))
  throw new ControlError('timeout', `No request matched ${JSON.stringify(filter)} within ${timeout}. ${lines}`)
}

/** A space without requests may not be open yet. */
function logged(list: ListRequests, filter: RequestFilter): Promise<readonly Exchange[]> {
  return list(filter).catch((error) => {
    if (error instanceof ControlError && error.code === 'not_found') return []
    throw error
  })
}

const MAX_LINES = 10

/** Names exchanges for the message of a failed test: the newest, one a line. */
export function exchangeLines(exchanges: readonly Exchange[], what = 'requests'): string {
  if (exchanges.length === 0) return `There are no ${what}. Check the address and the key of the client.`
  const shown = exchanges.slice(-MAX_LINES)
  const which = shown.length < exchanges.length ? `, the last ${MAX_LINES} of ${exchanges.length}` : ''
  return [`The ${what}${which}:`, ...shown.map((exchange) => `  ${exchangeLine(exchange)}`)].join('\n')
}

/** `#3 POST /v1/pets → 201 (sandbox-pro)` */
function exchangeLine(exchange: Exchange): string {
  const { id, method, status, reason, ended, key } = exchange
  const outcome = status ?? (ended === null ? 'in progress' : 'no response')
  return `#${id} ${method} ${addressOf(exchange)} → ${outcome}${reason === null ? '' : `, ${reason}`} (${key})`
}
