import * as v from 'valibot'
import { countRecords } from '../../core/collections.js'
import { turnClock } from '../../core/transitions.js'
import { keyChangedSince, type Undo } from '../../core/undo.js'
import { Failure } from '../../domain/failures.js'
import { keyLabel } from '../../domain/keys.js'
import { counted, joinOr, recordsText } from '../../domain/numbers.js'
import { OPTIONAL_SETTINGS, slowedOperations } from '../../domain/settings.js'
import type { StoredState } from '../../domain/state.js'
import { type ClockChange, changeClock, REAL_TIME } from '../../domain/time.js'
import { changeSettings, settingsSchema, settingsView } from '../../options/settings.js'
import { instantSchema } from '../../options/values/instant.js'
import { durationSchema, oneOf, switchSchema } from '../../options/values/reading.js'
import { readExplanation } from '../explanation.js'
import { clearOverrides, clockView, exportOverrides, listOverrides, readState } from '../state.js'
import { valuesText } from '../texts.js'
import { countSchema, described, fields, switchInQuery, text, type VerbContext, VerbError, verb } from '../verb.js'
import { type ClockView, OVERRIDE_KINDS } from '../views.js'
import { checkPlan } from './keys.js'
import { spaceText } from './sandbox.js'
import { checkOperations } from './trouble.js'

export const spaceVerbs = {
  state: verb('GET /state', 'Show settings, clock, keys with quotas and bans, storm, faults and counts', {
    details:
      'See [active now](#active-now). With `explain`, also [why](spec.md#why-an-operation-is-mocked) operations are stateful or mocked.',
    input: fields({
      explain: v.optional(
        described(switchInQuery, 'also return what the contract says about resources and operations'),
      ),
    }),
    command: 'status [--explain]',
    example: { explain: true },
    run: ({ space, spaces, wall }, { explain }) => ({
      ...readState(space, spaces, wall),
      ...(explain && { explanation: readExplanation(space.shared.contract) }),
    }),
  }),
  reset: verb('POST /reset', 'Reset the space to its start: fixtures, settings, quotas, bans, clock, log', {
    details:
      'Reads the fixtures again. Snapshots stay. On the default space, it also resets the [keys](behaviour.md#spaces).',
    command: 'reset',
    async useFiles({ readFixtures }) {
      try {
        return readFixtures()
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        throw new VerbError('conflict', `The fixtures cannot be loaded, so nothing was reset: ${error.message}`)
      }
    },
    run({ space, spaces, wall, files }) {
      spaces.reset(space, wall, files as StoredState | undefined)
      return { space: space.name, records: countRecords(space.shared.contract, space.state.records) }
    },
    origin: () => undefined,
    text: ({ space, records }) => `Reset ${spaceText(space)} to its start: ${recordsText(records)}.`,
  }),
  export: verb('GET /export', 'Return the overrides as a scenario file, flags of serve, and test code', {
    command: 'export [--as <form>]',
    run: ({ space, wall }) => exportOverrides(space, wall),
  }),
  undo: verb('POST /undo', 'Undo the last change of the space by a verb, within a minute', {
    input: fields({
      id: v.optional(
        described(
          countSchema('must be the id of an undo, from GET /state'),
          'undo only if this verb was the last (see status -o json)',
        ),
      ),
    }),
    command: 'undo [--id <id>]',
    example: { id: 42 },
    canUndo: false,
    origin: () => undefined,
    async useFiles({ snapshots, read }, { id }) {
      if (snapshots === undefined) return id
      const { id: found, file } = findUndo(await read(), id)
      if (file?.content === null) await snapshots.remove(file.name)
      else if (file !== undefined) await snapshots.put(file.name, file.content)
      // The snapshot's file has been restored for this verb, so no other one may be undone now.
      return found
    },
    run(context, { id }) {
      const { space, spaces } = context
      const undo = findUndo(context, (context.files as number | undefined) ?? id)
      return { undone: undo.verb as string, requests: spaces.undo(space, undo) }
    },
    text: ({ undone, requests }) =>
      `Undone: ${undone.replace('.', ' ')}.${requests === 0 ? '' : ` Also undone: what ${counted(requests, 'request')} since then changed.`}`,
  }),
  'overrides.list': verb('GET /overrides', 'List changes of storm, faults, clock, settings, bans, plans', {
    methodName: 'overrides',
    command: 'overrides list',
    run: ({ space, wall }) => listOverrides(space, wall),
  }),
  'overrides.clear': verb('DELETE /overrides', 'Reset overrides: all, one kind, or a single one', {
    details: 'Records, quotas and the log stay.',
    input: fields({
      what: v.optional(described(oneOf(OVERRIDE_KINDS), 'only overrides of this kind')),
      name: v.optional(described(text, 'only the override of this setting or key, or the removed fault with this id')),
    }),
    command: 'overrides clear [--what <kind>] [--name <name>]',
    example: { what: 'setting', name: 'latency' },
    run({ space, wall }, { what, name }) {
      if (what === undefined && name !== undefined)
        throw new VerbError('invalid_request', `"name" needs "what": one of ${OVERRIDE_KINDS.join(', ')}.`)
      return { cleared: clearOverrides(space, wall, what === undefined ? undefined : { what, name }) }
    },
    text: ({ cleared }) => (cleared === 0 ? 'There were no overrides.' : `${counted(cleared, 'override')} cleared.`),
  }),
  'settings.show': verb('GET /settings', 'Show all settings', {
    command: 'settings show',
    run: ({ space }) => settingsView(space.state.settings),
  }),
  'settings.change': verb('PATCH /settings', 'Change settings; if one is invalid, none changes', {
    details: `null removes ${joinOr(OPTIONAL_SETTINGS)}.`,
    input: settingsSchema,
    args: [],
    command: 'settings set <name=value...>',
    example: { plan: 'pro', latency: '50ms..200ms' },
    run({ space }, settings) {
      checkOperations(space, slowedOperations(settings))
      checkPlan(space, settings.plan)
      const { plan = space.shared.contract.defaultPlan } = settings
      const change = { ...settings, ...('plan' in settings && { plan }) }
      space.commit({ settings: changeSettings(space.state.settings, change) })
      return settingsView(space.state.settings)
    },
    text: (_, settings) => `Settings changed: ${valuesText(settings)}.`,
  }),
  'clock.show': verb('GET /clock', 'Show the time', {
    command: 'clock show',
    run: ({ space, wall }) => clockView(space, wall),
  }),
  'clock.set': verb('PUT /clock', 'Move the clock forward to an instant, freeze it, or let it run', {
    input: fields({
      now: v.optional(described(instantSchema, 'ISO 8601, with Z or an offset')),
      frozen: v.optional(described(switchSchema, 'false lets the clock run')),
    }),
    command: 'clock set <instant>',
    example: { now: '2030-12-04T23:59:00Z' },
    run: (context, { now, frozen }) =>
      moveClock(context, { ...(now === undefined ? {} : { now }), ...(frozen === undefined ? {} : { frozen }) }),
    text: (clock) => `Clock set to ${clockText(clock)}.`,
  }),
  'clock.advance': verb('POST /clock/advance', 'Move the clock forward by a duration', {
    input: fields({ by: described(durationSchema, 'how far: 500ms, 30s, 5m or 24h') }),
    command: 'clock advance <duration>',
    example: { by: '1m' },
    run: (context, { by }) => moveClock(context, { now: context.space.now(context.wall) + by }),
    text: (clock, { by }) => `Clock advanced by ${by} to ${clockText(clock)}.`,
  }),
  'clock.reset': verb('DELETE /clock', 'Return to real time', {
    command: 'clock reset',
    run({ space, wall }) {
      space.commit(turnClock(space.state, REAL_TIME, wall))
      return clockView(space, wall)
    },
    text: () => 'Clock set to real time.',
  }),
}

/** @throws VerbError */
function findUndo({ space, spaces, wall }: VerbContext, id: number | undefined): Undo {
  const undo = spaces.findUndo(space, wall)
  if (undo === undefined) {
    const message = 'There is nothing to undo in this space. Undo takes back its last change by a verb, for one minute.'
    throw new VerbError('not_found', message)
  }
  if (id !== undefined && id !== undo.id) {
    const message = `Undo ${id} is not the last in this space. The last is ${undo.id} (${undo.verb}).`
    throw new VerbError('conflict', message)
  }
  const key = undo.keys && keyChangedSince(space.shared.keys, undo.keys)
  if (key === undefined) return undo
  const message = `${undo.verb} changed the key "${keyLabel(key)}", and another verb has changed it since.`
  throw new VerbError('conflict', message)
}

function clockText({ now, frozen }: ClockView): string {
  return now + (frozen ? ', frozen' : '')
}

function moveClock({ space, wall }: VerbContext, to: ClockChange): ClockView {
  const changed = changeClock(space.state.clock, to, wall)
  if (typeof changed === 'string') throw new VerbError('invalid_request', changed)
  space.commit(turnClock(space.state, changed, wall))
  return clockView(space, wall)
}
