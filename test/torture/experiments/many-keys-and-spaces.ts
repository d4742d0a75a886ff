import { flood } from '../flood.js'
import { UNLIMITED } from '../ledger.js'
import type { Experiment, Trial } from '../trial.js'
import { ask, request, statusOf } from '../wire.js'

const CONNECTIONS = 4

/** Maximum growth after a million keys. */
const MOST_MORE_MIB = 250

/** As many as the limit is by default. @source docs/behaviour.md, "Spaces" */
const MOST_SPACES = 1000

/** A million unknown keys and many spaces. Memory stays bounded, and known keys are served. */
export const manyKeysAndSpaces: Experiment = {
  counts: 'keys and spaces tried',
  async run(trial) {
    const count = trial.size(500_000, 5000)
    await keys(trial, count, [], '401')
    await keys(trial, count, ['--any-key'], '200')
    await spaces(trial)
  },
}

async function keys(trial: Trial, count: number, flags: readonly string[], expected: string): Promise<void> {
  const server = await trial.serve(trial.folder(), ['--in-memory', '--log-limit', '0', ...flags])
  // Warm up, so that only the keys are compared.
  await flood(
    server.port,
    CONNECTIONS,
    times(2000, () => request('GET', '/v1/pets/1', { key: 'warm' }).toString()),
  )
  const before = server.memory()
  const { statuses, seconds } = await flood(
    server.port,
    CONNECTIONS,
    times(count, (i) => request('GET', '/v1/pets/1', { key: `key-${i}-${trial.integer(0, 1e9)}` }).toString()),
  )
  const more = server.peakMemory() - before
  // Without --any-key it is the address that is counted, and comes to the end of its quota.
  const answered = (statuses.get(expected) ?? 0) + (expected === '401' ? (statuses.get('429') ?? 0) : 0)
  trial.survive(answered)
  if (answered !== count) trial.lose(`of ${count} unknown keys: ${JSON.stringify([...statuses])}`)
  if (more > MOST_MORE_MIB) trial.lose(`${count} unknown keys took ${more} MiB`)
  const known = statusOf(await ask(server.port, 'GET', '/v1/pets'))
  trial.check(known === 200, () => `after ${count} unknown keys a known one is answered ${known}`)
  trial.note(`${count} keys (${expected}) ${seconds.toFixed(0)} s, ${before} MiB and at most ${more} more`)
}

async function spaces(trial: Trial): Promise<void> {
  const server = await trial.serve(trial.folder(), ['--in-memory', ...UNLIMITED])
  const before = server.memory()
  const tried = 2 * MOST_SPACES
  let opened = 0
  for (let i = 0; i < tried; i += 100) {
    const { statuses } = await flood(
      server.port,
      1,
      times(100, (j) => request('GET', '/v1/pets/1', { key: `sandbox~space-${i + j}` }).toString()),
    )
    const [served = 0, refused = 0] = [statuses.get('200'), statuses.get('503')]
    opened += served
    trial.survive(served + refused)
    if (served + refused !== 100) trial.lose(`spaces from ${i} on: ${JSON.stringify([...statuses])}`)
  }
  trial.check(opened === MOST_SPACES, () => `${opened} spaces were opened, not ${MOST_SPACES}`)
  const first = statusOf(await ask(server.port, 'GET', '/v1/pets', { key: 'sandbox~space-0' }))
  trial.check(first === 200, () => `the first space is answered ${first}`)
  trial.note(`${tried} spaces, ${opened} opened: ${before} MiB and ${server.peakMemory() - before} more`)
}

function times(count: number, make: (index: number) => string): () => string | undefined {
  let index = 0
  return () => (index < count ? make(index++) : undefined)
}
