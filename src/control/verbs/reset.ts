import { verb } from '../verb.js'

export const reset = verb({
  method: 'POST',
  path: '/reset',
  summary:
    'Returns a space to its start: pets, settings, keys, quotas, bans, storm, faults, clock, randomness, log, conduct',
  async run({ space }) {
    // The store comes first, so that a failed write changes nothing.
    await space.keep({ kind: 'replaced', state: space.seed })
    space.restart()
    return { space: space.name, pets: space.pets.size }
  },
})
