import { verb } from '../verb.js'

export const reset = verb({
  method: 'POST',
  path: '/reset',
  summary:
    'Returns a space to its start: pets, settings, keys, quotas, bans, storm, faults, clock, randomness, log, conduct',
  async run({ world }) {
    // The store comes first, so that a failed write changes nothing.
    await world.keep({ kind: 'replaced', state: world.seed })
    world.restart()
    return { space: world.name, pets: world.pets.size }
  },
})
