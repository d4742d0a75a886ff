import { verb } from '../verb.js'

export const reset = verb({
  method: 'POST',
  path: '/reset',
  summary:
    'Brings a space back to its start: pets, settings, keys, quotas, bans, storm, faults, clock, chance, log, conduct',
  async run({ world }) {
    // What is stored is replaced first, so that a failed write changes nothing.
    await world.keep({ kind: 'replaced', state: world.seed })
    world.restart()
    return { space: world.name, pets: world.pets.size }
  },
})
