import { expect, it, onTestFinished } from 'vitest'
import { perform } from '../../src/control/perform.js'
import { fetchOf } from '../../src/http/fetch-adapter.js'
import type { SandboxOptions } from '../../src/options/options.js'
import { MemoryLog } from '../../src/replication/memory-log.js'
import { openSandboxCore } from '../../src/sandbox-core.js'
import { embeddedOptions } from '../support/embedded-options.js'

const NOW = Date.parse('2026-03-01T10:00:00Z')

/** Replicas over a log in memory, whose clock stands. */
function group() {
  const log = new MemoryLog(() => NOW)
  return {
    log,
    async replica(options: SandboxOptions = {}) {
      const core = await openSandboxCore(
        embeddedOptions({ redis: 'redis://unused', seed: 1, ...options }),
        {},
        undefined,
        { openLog: async (watcher) => log.open(watcher) },
      )
      onTestFinished(() => core.close())
      await core.begin('')
      const service = fetchOf(core, core.controlTarget.stopping)
      return {
        core,
        get: (path: string, key = 'sandbox') =>
          service(new Request(`http://localhost/v1${path}`, { headers: { authorization: `Bearer ${key}` } })),
        post: (body: object, key = 'sandbox') =>
          service(
            new Request('http://localhost/v1/pets', {
              method: 'POST',
              headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
              body: JSON.stringify(body),
            }),
          ),
      }
    },
  }
}

it('what one replica is asked, all know', async () => {
  const { replica } = group()
  const [a, b] = [await replica(), await replica()]
  const posted = await a.post({ name: 'Rex', categoryId: 1 })
  expect(posted.status).toBe(201)
  const { id } = (await posted.json()) as { id: number }
  const got = await b.get(`/pets/${id}`)
  expect(got.status).toBe(200)
  expect(await perform(b.core.controlTarget, '', 'state', {})).toEqual(
    await perform(a.core.controlTarget, '', 'state', {}),
  )
  const names = await perform(a.core.controlTarget, '', 'replicas', {})
  expect(names).toHaveLength(2)
})

it('a quota is one over all replicas', async () => {
  const { replica } = group()
  const all = [await replica(), await replica(), await replica()]
  const statuses = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => (await all[index % 3]?.get('/pets', 'sandbox-free'))?.status),
  )
  expect(statuses.filter((status) => status === 200)).toHaveLength(60)
  expect(statuses.filter((status) => status === 429)).toHaveLength(140)
})
