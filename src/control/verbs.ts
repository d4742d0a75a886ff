import type { GenericSchema } from 'valibot'
import { readState } from './state.js'
import { type Verb, type VerbContext, verb } from './verb.js'
import type { VerbName, VerbOutput } from './verb-map.js'
import * as clock from './verbs/clock.js'
import { conduct } from './verbs/conduct.js'
import * as deviations from './verbs/deviations.js'
import { drift } from './verbs/drift.js'
import * as faults from './verbs/faults.js'
import * as keys from './verbs/keys.js'
import * as orders from './verbs/orders.js'
import * as pets from './verbs/pets.js'
import { replicas } from './verbs/replicas.js'
import * as requests from './verbs/requests.js'
import { reset } from './verbs/reset.js'
import * as scenario from './verbs/scenario.js'
import * as settings from './verbs/settings.js'
import { shutdown } from './verbs/shutdown.js'
import * as snapshots from './verbs/snapshots.js'
import * as spaces from './verbs/spaces.js'
import * as storm from './verbs/storm.js'
import { switches } from './verbs/switches.js'
import { undo } from './verbs/undo.js'

const state = verb({
  method: 'GET',
  path: '/state',
  summary: 'Settings, clock, keys with their quotas and bans, storm, faults and counts of a space',
  run: ({ space, spaces, wall }) => readState(space, spaces, wall),
})

/** Everything that can be done to a running sandbox, by the verb's name. */
export const VERBS = {
  state,
  reset,
  switches,
  undo,
  'deviations.list': deviations.list,
  'deviations.clear': deviations.clear,
  'settings.show': settings.show,
  'settings.change': settings.change,
  'clock.show': clock.show,
  'clock.set': clock.set,
  'clock.advance': clock.advance,
  'clock.reset': clock.reset,
  'keys.list': keys.list,
  'keys.add': keys.add,
  'keys.change': keys.change,
  'keys.remove': keys.remove,
  'keys.ban': keys.ban,
  'keys.unban': keys.unban,
  'storm.show': storm.show,
  'storm.start': storm.start,
  'storm.stop': storm.stop,
  'faults.list': faults.list,
  'faults.set': faults.set,
  'faults.add': faults.add,
  'faults.clear': faults.clear,
  'scenario.list': scenario.list,
  'scenario.apply': scenario.apply,
  'pets.list': pets.list,
  'pets.add': pets.add,
  'pets.set': pets.set,
  'pets.remove': pets.remove,
  'orders.list': orders.list,
  'snapshots.list': snapshots.list,
  'snapshots.save': snapshots.save,
  'snapshots.restore': snapshots.restore,
  'snapshots.remove': snapshots.remove,
  'requests.list': requests.list,
  'requests.har': requests.har,
  'requests.replay': requests.replay,
  'requests.clear': requests.clear,
  conduct,
  drift,
  'spaces.list': spaces.list,
  'spaces.remove': spaces.remove,
  replicas,
  shutdown,
} as const satisfies { readonly [Name in VerbName]: TableEntry<Name> }

/** A verb that gives what the map of verbs says. */
interface TableEntry<Name extends VerbName> extends Pick<Verb, 'method' | 'path' | 'summary' | 'body'> {
  readonly input?: GenericSchema
  run(context: VerbContext, input: never): VerbOutput<Name>
}
