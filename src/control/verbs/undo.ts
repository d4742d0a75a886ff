import { VerbError, verb } from '../verb.js'

export const undo = verb({
  method: 'POST',
  path: '/undo',
  summary:
    'Takes back the last reset, restored snapshot, scenario, cleared log, cleared deviations, removed pet, key or space, for a minute after it',
  run({ space, spaces, wall }) {
    const undone = spaces.undo(space, wall)
    if (undone === undefined) {
      throw new VerbError(
        'not_found',
        'There is nothing to undo in this space: only the last thing that took something away can be taken back, for a minute.',
      )
    }
    return { undone }
  },
})
