import type { Conduct } from '../../conduct/conduct-view.js'
import type { Pet } from '../../contract/entities.js'
import type { VerbRoute } from '../../control/verb-request.js'
import type {
  ClockView,
  FaultView,
  KeyView,
  ScenarioView,
  SpaceView,
  StateView,
  StormView,
} from '../../control/views.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import type { SettingsView } from '../../options/settings-view.js'

/** The verbs behind the dashboard's controls, and what each answers. */
export interface VerbAnswers {
  state: StateView
  reset: unknown
  conduct: Conduct
  'settings.change': SettingsView
  'clock.set': ClockView
  'clock.advance': ClockView
  'clock.reset': ClockView
  'keys.add': KeyView
  'keys.change': KeyView
  'keys.remove': unknown
  'keys.ban': KeyView
  'keys.unban': KeyView
  'storm.start': StormView
  'storm.stop': null
  'faults.set': readonly FaultView[]
  'faults.add': readonly FaultView[]
  'faults.clear': readonly FaultView[]
  'scenario.list': readonly ScenarioView[]
  'scenario.apply': StateView
  'pets.list': readonly Pet[]
  'pets.add': Pet
  'pets.change': Pet
  'pets.remove': unknown
  'snapshots.list': readonly { readonly name: string }[]
  'snapshots.save': unknown
  'snapshots.restore': unknown
  'snapshots.remove': unknown
  'requests.list': readonly Exchange[]
  'requests.clear': unknown
  'spaces.list': readonly SpaceView[]
  'spaces.remove': unknown
}
export type VerbName = keyof VerbAnswers

/** Of the sandbox's one table of verbs, put in when the page is built. */
declare const VERB_ROUTES: Readonly<Record<VerbName, VerbRoute>>

export function routeOf(verb: VerbName): VerbRoute {
  return VERB_ROUTES[verb]
}
