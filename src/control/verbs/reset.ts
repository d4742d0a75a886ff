import { verb } from '../verb.js'

export const reset = verb({
  method: 'POST',
  path: '/reset',
  summary:
    'Returns a space to its start: pets, settings, plans, quotas, bans, storm, faults, clock, randomness, log, conduct; the default space returns the keys of all spaces, too',
  run({ space, spaces, wall }) {
    spaces.reset(space, wall)
    return { space: space.name, pets: space.pets.size }
  },
})
