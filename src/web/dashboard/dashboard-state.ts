import type { Conduct } from '../../conduct/conduct-view.js'
import type { Pet } from '../../contract/entities.js'
import { stringifyJson } from '../../contract/json.js'
import type { ReplicaView, ScenarioView, SpaceView, StateView } from '../../control/views.js'
import type { Drift } from '../../drift/ledger.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import type { Zone } from './clock-text.js'
import type { ExchangeFilter } from './exchange-filter.js'
import { keptZone } from './kept-zone.js'
import type { LocalClock } from './local-clock.js'
import type { PagePlace, Tab } from './page-address.js'
import type { OperationFacts } from './request-code.js'

/** `locked`: the control plane asks for a token. */
type Connection = 'connecting' | 'live' | 'lost' | 'locked'

/** A space's state without its clock, which the page carries on by itself. */
type SteadyState = Omit<StateView, 'clock'>

/** Everything that the page shows, except the exchanges, which change too often. */
export interface DashboardState {
  readonly connection: Connection
  /** Empty for the default space. */
  readonly space: string
  readonly state: SteadyState | undefined
  readonly clock: LocalClock | undefined
  /** Grows whenever exchanges have come or gone. */
  readonly revision: number
  /** Number of exchanges that the stream had to drop. */
  readonly missed: number
  readonly selected: Exchange | undefined
  /** The one that the address names, until it is there. */
  readonly wanted: number | undefined
  /** Being changed before it is sent again. */
  readonly editing: Exchange | undefined
  /** What the form for a fault begins with, and how often it was asked to. */
  readonly faultDraft: { readonly operation: string; readonly times: number }
  readonly filter: ExchangeFilter
  /** The newest ones, undefined until they were read. */
  readonly pets: readonly Pet[] | undefined
  /** How many of the newest pets are read. */
  readonly petsWanted: number
  readonly spaces: readonly SpaceView[]
  readonly snapshots: readonly string[]
  /** Of which the sandbox is one; empty where it is one by itself. */
  readonly replicas: readonly ReplicaView[]
  readonly scenarios: readonly ScenarioView[]
  readonly operations: readonly OperationFacts[]
  readonly conduct: Conduct | undefined
  /** How the real service behind the sandbox drifts; undefined where there is none. */
  readonly drift: Drift | undefined
  /** The effect of the last control, for screen readers. */
  readonly announcement: string
  /** The same for everybody, where it can be undone. */
  readonly toast: Toast | undefined
  readonly tab: Tab
  readonly zone: Zone
  /** Something that happened by itself: a space is gone. */
  readonly notice: string
}

/** What was done, for as long as it is shown. */
export interface Toast {
  readonly text: string
  /** The space that it was done to, where it is to be undone. */
  readonly space: string
}

/** What of it belongs to one space. */
const OF_A_SPACE = {
  state: undefined,
  clock: undefined,
  missed: 0,
  selected: undefined,
  wanted: undefined,
  editing: undefined,
  pets: undefined,
  snapshots: [],
  conduct: undefined,
  drift: undefined,
} as const

export const PETS_A_PAGE = 100

export function newState(place: PagePlace): DashboardState {
  return {
    ...OF_A_SPACE,
    space: place.space,
    filter: place.filter,
    wanted: place.exchange,
    tab: place.tab,
    connection: 'connecting',
    revision: 0,
    petsWanted: PETS_A_PAGE,
    spaces: [],
    replicas: [],
    scenarios: [],
    operations: [],
    faultDraft: { operation: '*', times: 0 },
    announcement: '',
    toast: undefined,
    zone: keptZone(),
    notice: '',
  }
}

/** The change to another space. */
export function turnTo(space: string): Partial<DashboardState> {
  return { ...OF_A_SPACE, space, connection: 'connecting', petsWanted: PETS_A_PAGE }
}

/** The older of two equal values, so that nothing renders again. */
export function olderIfSame<T>(older: T, newer: T): T {
  return stringifyJson(older) === stringifyJson(newer) ? older : newer
}

/** The newer record, with the older value of each part that has not changed. */
export function keepSame<T extends object>(older: T | undefined, newer: T): T {
  if (older === undefined) return newer
  const parts = Object.entries(newer).map(([name, value]) => [name, olderIfSame(Reflect.get(older, name), value)])
  // The same names, each with a value of its own type.
  return parts.every(([name, value]) => Reflect.get(older, name) === value) ? older : (Object.fromEntries(parts) as T)
}
