import { verb } from '../verb.js'

export const shutdown = verb({
  method: 'POST',
  path: '/shutdown',
  summary: 'Stops the sandbox, as SIGTERM does',
  run({ sandbox }) {
    sandbox.shutdown()
    return { stopping: true } as const
  },
})
