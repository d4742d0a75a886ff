import * as v from 'valibot'
import type { World } from '../../core/space.js'
import { changeClock, REAL_TIME } from '../../domain/clock.js'
import { durationSchema } from '../../options/values/duration.js'
import { instantSchema } from '../../options/values/instant.js'
import { switchSchema } from '../../options/values/reading.js'
import { fields } from '../fields.js'
import { VerbError, verb } from '../verb.js'
import type { ClockView } from '../views.js'

export function clockView(world: World): ClockView {
  return { now: new Date(world.now()).toISOString(), frozen: world.clock.kind === 'frozen' }
}

export const show = verb({
  method: 'GET',
  path: '/clock',
  summary: 'Shows the clock of a space',
  run: ({ world }) => clockView(world),
})

export const set = verb({
  method: 'PUT',
  path: '/clock',
  summary: 'Moves the clock of a space forward to an instant, freezes it or lets it run',
  input: fields({ now: v.optional(instantSchema), frozen: v.optional(switchSchema) }),
  run: ({ world }, { now, frozen }) =>
    change(world, { ...(now === undefined ? {} : { now }), ...(frozen === undefined ? {} : { frozen }) }),
})

export const advance = verb({
  method: 'POST',
  path: '/clock/advance',
  summary: 'Moves the clock of a space forward by a duration',
  input: fields({ by: durationSchema }),
  run: ({ world }, { by }) => change(world, { now: world.now() + by }),
})

export const reset = verb({
  method: 'DELETE',
  path: '/clock',
  summary: 'Returns the clock of a space to real time',
  run: ({ world }) => {
    world.setClock(REAL_TIME)
    return clockView(world)
  },
})

function change(world: World, to: Parameters<typeof changeClock>[1]): ClockView {
  const changed = changeClock(world.clock, to, world.surroundings.systemClock.wall())
  if (typeof changed === 'string') throw new VerbError('invalid_request', `${changed}.`)
  world.setClock(changed)
  return clockView(world)
}
