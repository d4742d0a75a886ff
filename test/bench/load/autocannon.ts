import { join } from 'node:path'
import { runToEnd } from '../child.js'
import { NEW_PET, type Operation, type Running } from '../contestants/contestant.js'
import { benchDirectory } from '../directories.js'
import { CONNECTIONS, type Load, type Yield } from './load.js'

/** @see Load */
export const autocannon: Load = (running, operation, seconds) =>
  fire(running, operation, ['--duration', String(seconds)])

/** A number of requests, however long they take. */
export function exactly(requests: number, running: Running, operation: Operation): Promise<Yield> {
  return fire(running, operation, ['--amount', String(requests)])
}

async function fire(running: Running, operation: Operation, extent: readonly string[]): Promise<Yield> {
  const stdout = await runToEnd(process.execPath, [
    join(benchDirectory, 'node_modules/autocannon/autocannon.js'),
    ...['--json', '--no-progress', '--connections', String(CONNECTIONS)],
    ...['--headers', `Authorization=Bearer ${running.key}`],
    ...(operation === 'createPet'
      ? ['--method', 'POST', '--headers', 'Content-Type=application/json', '--body', NEW_PET]
      : []),
    ...extent,
    running.urls[operation],
  ])
  const { requests, non2xx, errors, duration } = JSON.parse(stdout)
  if (non2xx > 0 || errors > 0) throw new Error(`${operation} at ${running.urls[operation]} failed:\n${stdout}`)
  return { requests: requests.total, perSecond: requests.total / duration }
}
