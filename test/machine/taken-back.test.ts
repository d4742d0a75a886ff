import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSandboxCore } from '../../src/compose.js'
import { applyVerb } from '../../src/control/apply-verb.js'
import type { VerbName } from '../../src/control/verb-map.js'
import type { Reply, ServiceRequest } from '../../src/domain/messages.js'
import { folderWithin } from '../store/owner.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { serviceRequest } from '../support/service-request.js'
import { temporaryFolder } from '../support/temporary-files.js'

/** A sandbox on a store that is gone before the turn is over. */
async function sandboxWhoseStoreGoes() {
  const store = join(folderWithin(temporaryFolder()), 'store.json')
  const core = await openSandboxCore(embeddedOptions({ store, fsync: true }), {})
  await core.begin('')
  // It says that its store is lost.
  onTestFinished(() => core.close().catch(() => {}))
  renameSync(dirname(store), `${dirname(store)}-moved`)
  return {
    core,
    /** Does a verb, and leaves it to the end of the turn to be kept, as where every write is synced. */
    apply: (verb: VerbName, input: object) => {
      core.controlTarget.change({ kind: 'verb', space: '', verb, input }, applyVerb).catch(() => {})
    },
    ask: (authorization: string, more: Partial<ServiceRequest> = {}) => {
      const headers = { authorization, 'content-type': 'application/json' }
      return core.service(serviceRequest({ headers, ...more })) as Reply
    },
  }
}

it('withholds a refusal that shows a key which was not stored', async () => {
  const { core, apply, ask } = await sandboxWhoseStoreGoes()
  apply('keys.remove', { key: 'sandbox-free' })
  const replies = [ask('Bearer sandbox-free'), ask('Bearer sandbox-free~a')]
  expect(replies.map(({ status }) => status)).toEqual([401, 401])
  await core.settle()
  expect(replies.map((reply) => core.instead(reply)?.status)).toEqual([500, 500])
  expect(ask('Bearer sandbox-free').status).toBe(200)
})

it('does not roll back a pet of a space without a store', async () => {
  const { core, ask } = await sandboxWhoseStoreGoes()
  const body = new TextEncoder().encode('{"name":"Rex","categoryId":1}')
  const post: Partial<ServiceRequest> = { method: 'POST', body }
  const replies = [ask('Bearer sandbox', post), ask('Bearer sandbox~a', post)]
  await core.settle()
  expect(replies.map((reply) => core.instead(reply)?.status)).toEqual([500, undefined])
  const sizes = ['', 'a'].map((name) => core.spaces.get(name)?.records.get('pets')?.size)
  expect(sizes).toEqual([60, 61])
})

it('rolls back all changes of a turn from the first that cannot be stored', async () => {
  const { core, apply } = await sandboxWhoseStoreGoes()
  const { default: space } = core.spaces
  const asItIs = () => {
    const { settings, clock, storm, faults, plans, startClock, accounts } = space.save()
    return [{ settings, clock, storm, faults, plans }, startClock, accounts]
  }
  apply('settings.change', { banAfter: 7 })
  const before = asItIs()
  apply('keys.remove', { key: 'sandbox-free' })
  apply('settings.change', { plan: 'pro', senders: 3 })
  apply('storm.start', { rate: 0.5 })
  apply('faults.add', { rule: 'listPets:503' })
  apply('keys.ban', { key: 'sandbox-pro' })
  apply('scenario.apply', { name: 'quota-nearly-spent' })
  apply('clock.set', { now: '2040-01-01T00:00:00Z', frozen: true })
  const after = asItIs()
  expect([after[0], after[2]]).not.toEqual([before[0], before[2]])
  await core.settle()
  expect(asItIs()).toEqual(before)
  expect(space.settings.banAfter).toBe(7)
})
