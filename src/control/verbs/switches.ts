import { switchesView } from '../switches.js'
import { verb } from '../verb.js'

export const switches = verb({
  method: 'GET',
  path: '/switches',
  summary: 'The present switches as a scenario file, as flags of serve and as test code, so that they can be had again',
  run: ({ space, wall }) => switchesView(space, wall),
})
