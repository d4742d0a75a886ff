import { Failure } from '../../domain/failures.js'
import type { SpaceState } from '../../domain/state.js'
import { VerbError, verb } from '../verb.js'

export const reset = verb({
  method: 'POST',
  path: '/reset',
  summary:
    'Returns a space to its start: pets (from the fixtures as they are now), settings, plans, quotas, bans, storm, faults, clock, randomness, log, conduct; the default space returns the keys of all spaces, too',
  async fetch({ readFixtures }) {
    try {
      return readFixtures()
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      throw new VerbError('conflict', `Nothing was reset, as the fixtures cannot be used: ${error.message}`)
    }
  },
  run({ space, spaces, wall, fetched }) {
    const before = spaces.wholeOf(space)
    spaces.reset(space, wall, fetched as SpaceState | undefined)
    spaces.remember({ verb: 'reset', space: space.name, at: wall, before })
    return { space: space.name, pets: space.pets.size }
  },
})
