import * as v from 'valibot'
import { Failure } from '../../domain/failures.js'
import { joinOr } from '../../domain/numbers.js'
import { OPTIONAL_SETTINGS, slowedOperations } from '../../domain/settings.js'
import type { StoredState } from '../../domain/state.js'
import { type ClockChange, changeClock, REAL_TIME } from '../../domain/time.js'
import { changeSettings, settingsSchema, settingsView } from '../../options/settings.js'
import { instantSchema } from '../../options/values/instant.js'
import { durationSchema, oneOf, switchSchema } from '../../options/values/reading.js'
import { clearOverrides, clockView, exportOverrides, listOverrides, readState } from '../state.js'
import { countSchema, fields, text, type VerbContext, VerbError, verb } from '../verb.js'
import { type ClockView, OVERRIDE_KINDS } from '../views.js'
import { checkOperations } from './trouble.js'

export const spaceVerbs = {
  state: verb('GET /state', 'Settings, clock, keys with quotas and bans, storm, faults and counts of a space', {
    run: ({ space, spaces, wall }) => readState(space, spaces, wall),
  }),
  reset: verb(
    'POST /reset',
    'Resets a space: pets (from the current fixtures), settings, plans, quotas, bans, storm, faults, clock, randomness, log, conduct. On the default space, also resets the keys of all spaces',
    {
      canUndo: true,
      async fetch({ readFixtures }) {
        try {
          return readFixtures()
        } catch (error) {
          if (!(error instanceof Failure)) throw error
          throw new VerbError('conflict', `The fixtures cannot be loaded, so nothing was reset: ${error.message}`)
        }
      },
      run({ space, spaces, wall, fetched }) {
        spaces.reset(space, wall, fetched as StoredState | undefined)
        return { space: space.name, pets: space.records.get('pets')?.size ?? 0 }
      },
    },
  ),
  export: verb('GET /export', 'The overrides as a scenario file, as flags of serve and as test code', {
    run: ({ space, wall }) => exportOverrides(space, wall),
  }),
  undo: verb(
    'POST /undo',
    'Undoes the last reset, restored snapshot, scenario, cleared log, cleared overrides, removed pet, key or space, for one minute',
    {
      input: fields({ id: v.optional(countSchema('must be the id of an undo, from GET /state')) }),
      run({ space, spaces, wall }, { id }) {
        const undo = spaces.findUndo(space, wall)
        if (undo === undefined) {
          const message = 'There is nothing to undo in this space. Only the last change can be undone, for one minute.'
          throw new VerbError('not_found', message)
        }
        if (id !== undefined && id !== undo.id) {
          const message = `Undo ${id} is not the last in this space. The last is ${undo.id} (${undo.verb}).`
          throw new VerbError('conflict', message)
        }
        return { undone: undo.verb as string, requests: spaces.undo(space, undo) }
      },
    },
  ),
  'overrides.list': verb(
    'GET /overrides',
    'Changes from the start configuration: storm, faults, clock, settings, bans and plans of keys',
    { run: ({ space, wall }) => listOverrides(space, wall) },
  ),
  'overrides.clear': verb(
    'DELETE /overrides',
    'Resets all overrides, one kind (what), or one override (what and name); pets, quotas and the log stay',
    {
      input: fields({ what: v.optional(oneOf(OVERRIDE_KINDS)), name: v.optional(text) }),
      canUndo: true,
      run({ space, wall }, { what, name }) {
        if (what === undefined && name !== undefined)
          throw new VerbError(
            'invalid_request',
            `name requires what, which must be one of ${OVERRIDE_KINDS.join(', ')}.`,
          )
        return { cleared: clearOverrides(space, wall, what === undefined ? undefined : { what, name }) }
      },
    },
  ),
  'settings.show': verb('GET /settings', 'The settings of a space', {
    run: ({ space }) => settingsView(space.settings),
  }),
  'settings.change': verb('PATCH /settings', `Changes settings of a space; null removes ${joinOr(OPTIONAL_SETTINGS)}`, {
    input: settingsSchema,
    run({ space }, settings) {
      checkOperations(space, slowedOperations(settings))
      space.changeSettings(changeSettings(space.settings, settings))
      return settingsView(space.settings)
    },
  }),
  'clock.show': verb('GET /clock', 'Shows the clock of a space', {
    run: ({ space, wall }) => clockView(space, wall),
  }),
  'clock.set': verb('PUT /clock', 'Moves the clock of a space forward to an instant, freezes it or lets it run', {
    input: fields({ now: v.optional(instantSchema), frozen: v.optional(switchSchema) }),
    run: (context, { now, frozen }) =>
      moveClock(context, { ...(now === undefined ? {} : { now }), ...(frozen === undefined ? {} : { frozen }) }),
  }),
  'clock.advance': verb('POST /clock/advance', 'Moves the clock of a space forward by a duration', {
    input: fields({ by: durationSchema }),
    run: (context, { by }) => moveClock(context, { now: context.space.now(context.wall) + by }),
  }),
  'clock.reset': verb('DELETE /clock', 'Returns the clock of a space to real time', {
    run({ space, wall }) {
      space.setClock(REAL_TIME, wall)
      return clockView(space, wall)
    },
  }),
}

function moveClock({ space, wall }: VerbContext, to: ClockChange): ClockView {
  const changed = changeClock(space.clock, to, wall)
  if (typeof changed === 'string') throw new VerbError('invalid_request', changed)
  space.setClock(changed, wall)
  return clockView(space, wall)
}
