import { batch, computed, type Signal, signal } from '@preact/signals'
import type { Conduct } from '../conduct/conduct-view.js'
import type { Pet } from '../contract/entities.js'
import { stringifyJson } from '../contract/json.js'
import type { ReplicaView, ScenarioView, SpaceView, StateView } from '../control/views.js'
import type { Drift } from '../drift/ledger.js'
import type { Exchange } from '../exchanges/exchange-view.js'
import { EVERYTHING, type ExchangeFilter, filterExchanges } from './dashboard/exchange-filter.js'
import type { Tab } from './dashboard/page-address.js'
import type { TimelineEvent } from './dashboard/timeline.js'
import { dayText, type Zone } from './format.js'
import type { OperationFacts } from './request-code.js'

const ZONE_KEY = 'petstore-sandbox:zone'
const TICK_MS = 250
export const PETS_PER_PAGE = 100

/** `locked`: the control plane asks for a token. */
export const connection = signal<'connecting' | 'live' | 'lost' | 'locked'>('connecting')
export const space = signal('')

/** Everything that belongs to one space, with its value before anything of the space is known. */
const resets: (() => void)[] = []
function ofSpace<Value>(initial: Value): Signal<Value> {
  const created = signal(initial)
  resets.push(() => {
    created.value = initial
  })
  return created
}

export const state = ofSpace<Omit<StateView, 'clock'> | undefined>(undefined)
/** The space's clock when it was last read; `readAt` is the page's monotonic clock in milliseconds. */
export const clock = ofSpace<{ readonly now: number; readonly frozen: boolean; readonly readAt: number } | undefined>(
  undefined,
)
export const exchanges = ofSpace<readonly Exchange[]>([])
/** Events between the exchanges, newest first. */
export const events = ofSpace<readonly TimelineEvent[]>([])
export const missed = ofSpace(0)
export const selected = ofSpace<Exchange | undefined>(undefined)
/** Id of the exchange to select once it has been read. */
export const wanted = ofSpace<number | undefined>(undefined)
export const editing = ofSpace<Exchange | undefined>(undefined)
export const pets = ofSpace<readonly Pet[]>([])
export const petLimit = ofSpace(PETS_PER_PAGE)
export const snapshots = ofSpace<readonly string[]>([])
export const conduct = ofSpace<Conduct | undefined>(undefined)
/** Undefined without a real service behind the sandbox. */
export const drift = ofSpace<Drift | undefined>(undefined)

export const filter = signal<ExchangeFilter>(EVERYTHING)
export const tab = signal<Tab>('log')
export const zone = signal<Zone>(localStorage.getItem(ZONE_KEY) === 'local' ? 'local' : 'UTC')
export const spaces = signal<readonly SpaceView[]>([])
/** Empty unless the sandbox is one of several replicas. */
export const replicas = signal<readonly ReplicaView[]>([])
export const scenarios = signal<readonly ScenarioView[]>([])
export const operations = signal<readonly OperationFacts[]>([])
/** Operation that the fault form starts with; a new number starts the form again. */
export const faultDraft = signal({ operation: '*', number: 0 })
export const announcement = signal('')
/** The last change that can be undone, for a few seconds; the id is undefined for a removed space. */
export const toast = signal<
  { readonly text: string; readonly space: string; readonly undoId: number | undefined } | undefined
>(undefined)
/** Something that nobody asked for here: a space is gone, an undo failed. */
export const notice = signal('')

/** The page's monotonic clock in milliseconds, for everything that shows passing time. */
export const pageTime = signal(performance.now())
setInterval(() => {
  pageTime.value = performance.now()
}, TICK_MS)

/** Time on the space's clock in milliseconds since the epoch; undefined before it is known. */
export const spaceTime = computed(() => {
  const read = clock.value
  if (read === undefined || read.frozen) return read?.now
  return read.now + Math.max(0, pageTime.value - read.readAt)
})

/** Whether the sandbox is in front of a real service. A value of its own, since the state changes with each request. */
export const hasUpstream = computed(() => state.value?.upstream != null)
export const today = computed(() => dayText(spaceTime.value ?? 0, zone.value))

export const shownExchanges = computed(() => filterExchanges(exchanges.value, filter.value))

export function showZone(chosen: Zone): void {
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

/** Sets a value unless it is equal to the one before, so that nothing renders again. */
export function setIfChanged<Value>(target: Signal<Value>, value: Value): void {
  if (stringifyJson(target.peek()) !== stringifyJson(value)) target.value = value
}
