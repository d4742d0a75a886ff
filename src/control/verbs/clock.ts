import * as v from 'valibot'
import type { Space } from '../../core/space.js'
import { type ClockChange, changeClock, REAL_TIME } from '../../domain/clock.js'
import type { EpochMs } from '../../domain/time.js'
import { durationSchema } from '../../options/values/duration.js'
import { instantSchema } from '../../options/values/instant.js'
import { switchSchema } from '../../options/values/reading.js'
import { fields } from '../fields.js'
import { type VerbContext, VerbError, verb } from '../verb.js'
import type { ClockView } from '../views.js'

export function clockView(space: Space, wall: EpochMs): ClockView {
  return { now: new Date(space.now(wall)).toISOString(), frozen: space.clock.kind === 'frozen' }
}

export const show = verb({
  method: 'GET',
  path: '/clock',
  summary: 'Shows the clock of a space',
  run: ({ space, wall }) => clockView(space, wall),
})

export const set = verb({
  method: 'PUT',
  path: '/clock',
  summary: 'Moves the clock of a space forward to an instant, freezes it or lets it run',
  input: fields({ now: v.optional(instantSchema), frozen: v.optional(switchSchema) }),
  run: (context, { now, frozen }) =>
    change(context, { ...(now === undefined ? {} : { now }), ...(frozen === undefined ? {} : { frozen }) }),
})

export const advance = verb({
  method: 'POST',
  path: '/clock/advance',
  summary: 'Moves the clock of a space forward by a duration',
  input: fields({ by: durationSchema }),
  run: (context, { by }) => change(context, { now: context.space.now(context.wall) + by }),
})

export const reset = verb({
  method: 'DELETE',
  path: '/clock',
  summary: 'Returns the clock of a space to real time',
  run: ({ space, wall }) => {
    space.setClock(REAL_TIME, wall)
    return clockView(space, wall)
  },
})

function change({ space, wall }: VerbContext, to: ClockChange): ClockView {
  const changed = changeClock(space.clock, to, wall)
  if (typeof changed === 'string') throw new VerbError('invalid_request', `${changed}.`)
  space.setClock(changed, wall)
  return clockView(space, wall)
}
