import { renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSandboxCore } from '../../src/compose.js'
import { applyVerb } from '../../src/control/apply-verb.js'
import type { VerbName } from '../../src/control/verb-map.js'
import type { Reply, ServiceRequest } from '../../src/domain/messages.js'
import { ExchangeLog, LogBudget } from '../../src/exchanges/exchange-log.js'
import type { ExchangeRecord } from '../../src/exchanges/exchange-record.js'
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
  const request = (authorization: string, more: Partial<ServiceRequest> = {}): ServiceRequest =>
    serviceRequest({ headers: { authorization, 'content-type': 'application/json' }, ...more })
  return {
    core,
    /** Does a verb, and leaves it to the end of the turn to be kept, as where every write is synced. */
    apply: (verb: VerbName, input: object) => {
      core.controlTarget.change({ kind: 'verb', space: '', verb, input }, applyVerb).catch(() => {})
    },
    ask: (authorization: string, more?: Partial<ServiceRequest>) => core.service(request(authorization, more)) as Reply,
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
  expect([core.spaces.default.records.get('pets')?.size, core.spaces.get('a')?.records.get('pets')?.size]).toEqual([
    59 + 1,
    59 + 1 + 1,
  ])
})

it('rolls back all changes of a turn that cannot be stored', async () => {
  const { core, apply } = await sandboxWhoseStoreGoes()
  const { default: space } = core.spaces
  const asItIs = () => {
    const { settings, clock, storm, faults, plans, startClock, accounts } = space.save()
    return [{ settings, clock, storm, faults, plans }, startClock, accounts]
  }
  const before = asItIs()
  apply('keys.remove', { key: 'sandbox-free' })
  apply('settings.change', { plan: 'pro', senders: 3 })
  apply('storm.start', { rate: 0.5 })
  apply('faults.add', { rule: 'listPets:503' })
  apply('keys.ban', { key: 'sandbox-pro' })
  apply('scenario.apply', { name: 'quota-nearly-spent' })
  apply('clock.set', { now: '2040-01-01T00:00:00Z', frozen: true })
  const after = asItIs()
  expect(before.map((part, index) => JSON.stringify(part) === JSON.stringify(after[index]))).toEqual([
    false,
    true,
    false,
  ])
  await core.settle()
  expect(asItIs()).toEqual(before)
})

it('keeps a verb if no change beside it failed', async () => {
  const { core, apply } = await sandboxWhoseStoreGoes()
  const { default: space } = core.spaces
  apply('settings.change', { plan: 'pro' })
  apply('keys.remove', { key: 'sandbox-free' })
  await core.settle()
  expect([space.settings.plan, space.keys.has('sandbox-free')]).toEqual(['pro', true])
})

it('keeps the previous undo if a reset is not stored', async () => {
  const { core, apply, ask } = await sandboxWhoseStoreGoes()
  const { default: space } = core.spaces
  ask('Bearer sandbox')
  apply('requests.clear', {})
  apply('reset', {})
  await core.settle()
  expect(core.spaces.findUndo(space, Date.now())?.verb).toBe('requests.clear')
})

it('books and reports exchanges correctly after a cleared log is restored', () => {
  const budget = new LogBudget()
  const booked: number[] = []
  const book = budget.charge.bind(budget)
  budget.charge = (bytes) => {
    booked.push(bytes)
    book(bytes)
  }
  const log = new ExchangeLog(10, budget)
  const told: number[] = []
  log.follow({ onEnded: ({ position }) => told.push(position), end() {} })
  log.add(recordOf(log.takeId(), 1))
  const before = log.clear()
  log.add(recordOf(log.takeId(), 2))
  log.restore(before)
  const sum = booked.reduce((total, bytes) => total + bytes, 0)
  expect([log.bytes, log.total, [...log].length]).toEqual([sum, 1, 1])
  for (const position of [2, 1])
    log.end({ space: '', id: 1, position, how: 'sent', durationMs: 1, waitingMs: 0, bodyMs: 0, connection: 1 })
  expect(told).toEqual([2, 1])
})

function recordOf(id: number, position: number): ExchangeRecord {
  return {
    id,
    position,
    at: 0,
    arrivedAt: 0,
    space: '',
    key: 'sandbox',
    method: 'GET',
    path: '/v1/pets',
    query: '',
    operation: 'listPets',
    status: 200,
    reason: undefined,
    how: undefined,
    durationMs: 0,
    waitingMs: 0,
    bodyMs: 0,
    remaining: 59,
    requestHeaders: [],
    requestBody: '',
    responseHeaders: [],
    responseBody: '[]',
  }
}
