import * as clock from './clock-verbs.js'
import { restart } from './restart.js'
import { readState } from './state.js'
import { type Verb, verb } from './verb.js'

/** Everything that can be done to a running sandbox, by the verb's name. */
export const VERBS = {
  state: verb({
    method: 'GET',
    path: '/state',
    summary: 'Settings, clock, keys with their quotas and bans, storm, faults and counts of a space',
    run: ({ world, spaces }) => readState(world, spaces),
  }),
  reset: verb({
    method: 'POST',
    path: '/reset',
    summary: 'Brings a space back to its start; snapshots stay',
    run: ({ world }) => restart(world),
  }),
  'clock.show': clock.show,
  'clock.set': clock.set,
  'clock.advance': clock.advance,
  'clock.reset': clock.reset,
} as const satisfies Record<string, Verb>

export type VerbName = keyof typeof VERBS
