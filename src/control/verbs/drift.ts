import { verb } from '../verb.js'

export const drift = verb({
  method: 'GET',
  path: '/drift',
  summary: 'How the answers of the real service behind the sandbox drift from the contract, in a space',
  run: ({ space }) => space.drift.report(),
})
