import * as v from 'valibot'
import { oneOf } from '../../options/values/reading.js'
import { deviationsOf, straighten } from '../deviations.js'
import { fields, text } from '../fields.js'
import { verb } from '../verb.js'
import { DEVIATION_KINDS } from '../views.js'

export const list = verb({
  method: 'GET',
  path: '/deviations',
  summary: 'What is not as the space began: storm, faults, clock, settings, bans and plans of keys',
  run: ({ space, wall }) => deviationsOf(space, wall),
})

export const clear = verb({
  method: 'DELETE',
  path: '/deviations',
  summary: 'Straightens all of them, or one kind, by what and name; no pet, quota or exchange is lost',
  input: fields({ what: v.optional(oneOf(DEVIATION_KINDS)), name: v.optional(text) }),
  run({ space, spaces, wall }, { what, name }) {
    const before = { kind: 'switches', switches: space.switches() } as const
    const straightened = straighten(space, wall, what === undefined ? undefined : { what, name: name ?? null })
    if (straightened > 0) spaces.remember({ verb: 'deviations.clear', space: space.name, at: wall, before })
    return { straightened }
  },
})
