import { verb } from '../verb.js'

export const shutdown = verb({
  method: 'POST',
  path: '/shutdown',
  summary: 'Stops the sandbox, as SIGTERM does',
  run: () => ({ stopping: true }) as const,
})
