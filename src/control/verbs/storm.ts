import type { Space } from '../../core/space.js'
import type { RunningStorm } from '../../domain/storm.js'
import { formatDuration } from '../../domain/time.js'
import { stormMapSchema } from '../../options/values/storm.js'
import { verb } from '../verb.js'
import type { StormView } from '../views.js'

export function stormView({ storm }: Space): StormView | null {
  return storm === undefined ? null : viewOf(storm)
}

function viewOf(storm: RunningStorm): StormView {
  const text = (duration: number | undefined) => (duration === undefined ? null : formatDuration(duration))
  return {
    rate: storm.rate,
    for: text(storm.for),
    every: text(storm.every),
    retryAfter: text(storm.retryAfter),
    startedAt: new Date(storm.startedAt).toISOString(),
  }
}

export const show = verb({
  method: 'GET',
  path: '/storm',
  summary: 'The storm of a space, null if there is none',
  run: ({ space }) => stormView(space),
})

export const start = verb({
  method: 'PUT',
  path: '/storm',
  summary: 'Starts a new storm; without a rate it refuses everything',
  input: stormMapSchema,
  run({ space, wall }, storm) {
    return viewOf(space.startStorm(storm, space.now(wall)))
  },
})

export const stop = verb({
  method: 'DELETE',
  path: '/storm',
  summary: 'Stops the storm',
  run({ space }) {
    space.stopStorm()
    return null
  },
})
