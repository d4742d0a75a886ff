import { batch, computed, type Signal, signal } from '@preact/signals'
import type { Conduct } from '../../conduct/conduct-view.js'
import { stringifyJson } from '../../contract/json.js'
import type { ActiveView, ResourceView, ScenarioView, SpaceView, StateView } from '../../control/views.js'
import { counted } from '../../domain/numbers.js'
import { filterExchanges } from '../../exchanges/exchange-filter.js'
import type { Exchange } from '../../exchanges/exchange-record.js'
import type { LoggedEvent } from '../../exchanges/space-event.js'
import { connection } from '../control-api.js'
import { zone } from '../format.js'
import { durationAt } from './exchange-rows.js'
import { bansIn, obstaclesOf } from './obstacles.js'
import type { Tab } from './page-address.js'
import { operationsIn } from './recorded-request.js'
import { dayText } from './texts.js'

const ZONE_KEY = 'petstore-sandbox:zone'
zone.value = localStorage.getItem(ZONE_KEY) === 'local' ? 'local' : 'UTC'
const TICK_MS = 250
export const RECORDS_PER_PAGE = 100

export { connection }
export const space = signal('')

/** Signals of one space, with their initial values. */
const resets: (() => void)[] = []
function ofSpace<Value>(initial: Value): Signal<Value> {
  const created = signal(initial)
  resets.push(() => {
    created.value = initial
  })
  return created
}

export const state = ofSpace<Omit<StateView, 'clock'> | undefined>(undefined)
/** As last read; `readAt` is the page's monotonic clock in milliseconds. */
export const clock = ofSpace<{ now: number; frozen: boolean; readAt: number } | undefined>(undefined)
export const exchanges = ofSpace<readonly Exchange[]>([])
/** The page has the log, which may be empty. */
export const isLoaded = ofSpace(false)
/** Changes of the space, oldest first. */
export const logged = ofSpace<readonly LoggedEvent[]>([])
/** While the pointer or the focus is in the list, no rows are added. */
export const isHeld = ofSpace(false)
/** Exchanges that are not shown because of that. */
export const newer = ofSpace(0)
/** Exchanges that the page does not have, found by the sandbox with this filter. */
export const found = ofSpace<{ filter: string; exchanges: readonly Exchange[] }>({ filter: '', exchanges: [] })
export const missed = ofSpace(0)
export const selected = ofSpace<Exchange | undefined>(undefined)
/** Id of the exchange to select once it is loaded. */
export const wanted = ofSpace<number | undefined>(undefined)
export const editing = ofSpace<Exchange | undefined>(undefined)
export const resources = ofSpace<readonly ResourceView[]>([])
export const resource = ofSpace('')
export const records = ofSpace<readonly Readonly<Record<string, unknown>>[]>([])
export const recordSearch = ofSpace('')
export const recordLimit = ofSpace(RECORDS_PER_PAGE)
export const snapshots = ofSpace<readonly { readonly name: string }[]>([])
export const conduct = ofSpace<Conduct | undefined>(undefined)

/** Words of the filter, and the text that is being typed. */
export const chips = signal<readonly string[]>([])
export const draft = signal('')
export const filter = computed(() => [...chips.value, draft.value].join(' ').trim())
/** What a filter leaves out of the finding that it is for. */
export const filteredPart = signal({ filter: '', part: '' })
/** Equal requests in a row share a row. */
export const isFolded = signal(true)
export const tab = signal<Tab>('log')
export const spaces = signal<readonly SpaceView[]>([])
export const scenarios = signal<readonly ScenarioView[]>([])
export const contract = signal<Readonly<Record<string, unknown>>>({})
export const operations = computed(() => operationsIn(contract.value))
export const announcement = signal('')
/** Shown for a few seconds. */
export const toast = signal<{ text: string; space: string; undoId: number | undefined } | undefined>(undefined)
/** When the sandbox last responded, by the page's monotonic clock. */
export const lastContact = signal(performance.now())
/** Unexpected events: a space is gone, an undo failed. */
export const notice = signal('')

/** The page's monotonic clock in milliseconds. */
export const pageTime = signal(performance.now())
setInterval(() => {
  if (connection.value !== 'lost') pageTime.value = performance.now()
}, TICK_MS)

/** The space's clock in milliseconds since the epoch. */
export const spaceTime = computed(() => {
  const read = clock.value
  if (read === undefined || read.frozen) return read?.now
  return read.now + Math.max(0, pageTime.value - read.readAt)
})

export function isNow({ until }: Pick<ActiveView, 'until'>, now: number): boolean {
  return until === null || Date.parse(until) > now
}

/** In the zone of the page. */
export const today = computed(() => dayText(spaceTime.value ?? 0))

export const shownExchanges = computed(() => {
  const own = filterExchanges(exchanges.value, filter.value, (exchange) =>
    exchange.ended === null ? durationAt(exchange, pageTime.value) : exchange.durationMs,
  )
  const oldest = exchanges.value.at(-1)?.id ?? 0
  const older = found.value.filter === filter.value ? found.value.exchanges.filter(({ id }) => id < oldest) : []
  return [...own, ...older]
})
/** Exchanges on the page. */
export const kept = computed(() => exchanges.value.length + newer.value)
/** The page does not have the first requests, or not any more. */
export const isPart = computed(() => (exchanges.value.at(-1)?.id ?? 1) > 1)
/** The log has exchanges before the oldest one on the page, which may have newer ones than were counted. */
export const hasOlder = computed(() => {
  const { requests = 0, logged = 0 } = state.value?.counts ?? {}
  return kept.value < logged && (exchanges.value.at(-1)?.id ?? 0) > requests - logged + 1
})
/** Newest first. */
export const events = computed(() => logged.value.toReversed())
export const bans = computed(() => bansIn(events.value, state.value?.keys ?? [], clock.value?.now ?? 0))

/** The last change that can be undone, in its words, and what an undo takes back besides it: ` (also what 3 requests since changed)`. */
export const undoable = computed(() => {
  const { undo = null, counts } = state.value ?? {}
  const done = events.value.find(({ verb }) => verb === undo?.verb)
  const requests = counts === undefined || done === undefined ? 0 : counts.requests - done.afterId
  const also = requests > 0 ? ` (also what ${counted(requests, 'request')} since changed)` : ''
  return undo && { id: undo.id, text: done?.text ?? undo.verb, also }
})

/** What refuses requests of a key now. */
export function obstaclesNow(key: string) {
  const view = state.value?.keys.find((known) => known.key === key)
  return obstaclesOf(view, state.value?.storm ?? null, spaceTime.value ?? 0)
}

export function showZone(chosen: typeof zone.value): void {
  localStorage.setItem(ZONE_KEY, chosen)
  zone.value = chosen
}

export function turnTo(name: string): void {
  batch(() => {
    for (const reset of resets) reset()
    space.value = name
    connection.value = 'connecting'
  })
}

/** Avoids rendering equal values again. @param value undefined if it was not read */
export function setIfChanged<Value>(target: Signal<Value>, value: Value | undefined): void {
  if (value !== undefined && stringifyJson(target.peek()) !== stringifyJson(value)) target.value = value
}
