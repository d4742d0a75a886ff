import * as v from 'valibot'
import type { Space } from '../../core/space.js'
import { changeClock, REAL_TIME } from '../../domain/clock.js'
import { durationSchema } from '../../options/values/duration.js'
import { instantSchema } from '../../options/values/instant.js'
import { switchSchema } from '../../options/values/reading.js'
import { fields } from '../fields.js'
import { VerbError, verb } from '../verb.js'
import type { ClockView } from '../views.js'

export function clockView(space: Space): ClockView {
  return { now: new Date(space.now()).toISOString(), frozen: space.clock.kind === 'frozen' }
}

export const show = verb({
  method: 'GET',
  path: '/clock',
  summary: 'Shows the clock of a space',
  run: ({ space }) => clockView(space),
})

export const set = verb({
  method: 'PUT',
  path: '/clock',
  summary: 'Moves the clock of a space forward to an instant, freezes it or lets it run',
  input: fields({ now: v.optional(instantSchema), frozen: v.optional(switchSchema) }),
  run: ({ space }, { now, frozen }) =>
    change(space, { ...(now === undefined ? {} : { now }), ...(frozen === undefined ? {} : { frozen }) }),
})

export const advance = verb({
  method: 'POST',
  path: '/clock/advance',
  summary: 'Moves the clock of a space forward by a duration',
  input: fields({ by: durationSchema }),
  run: ({ space }, { by }) => change(space, { now: space.now() + by }),
})

export const reset = verb({
  method: 'DELETE',
  path: '/clock',
  summary: 'Returns the clock of a space to real time',
  run: ({ space }) => {
    space.setClock(REAL_TIME)
    return clockView(space)
  },
})

function change(space: Space, to: Parameters<typeof changeClock>[1]): ClockView {
  const changed = changeClock(space.clock, to, space.shared.systemClock.wall())
  if (typeof changed === 'string') throw new VerbError('invalid_request', `${changed}.`)
  space.setClock(changed)
  return clockView(space)
}
