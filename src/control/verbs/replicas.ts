import { verb } from '../verb.js'

export const replicas = verb({
  method: 'GET',
  path: '/replicas',
  summary:
    'The replicas of the sandbox that are there: name, address, version, position, lag; none of a sandbox by itself',
  run: ({ replicas = [] }) => replicas,
})
