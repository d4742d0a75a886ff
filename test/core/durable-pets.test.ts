import { describe, expect, it } from 'vitest'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { handle } from '../../src/core/handle-request.js'
import { keepNewPet } from '../../src/core/keep-pet.js'
import { Keyring } from '../../src/core/keyring.js'
import { MemoryRoom } from '../../src/core/memory-room.js'
import type { Store } from '../../src/core/ports.js'
import { Space } from '../../src/core/space.js'
import type { Reply, ServiceRequest } from '../../src/domain/messages.js'
import type { Change } from '../../src/domain/state.js'
import { LogBudget } from '../../src/exchanges/exchange-log.js'
import { loadSeed } from '../../src/fixtures/load-fixtures.js'
import { embeddedOptions } from '../support/embedded-options.js'

/** A store whose writes wait until the test lets them succeed or fail. */
class HeldStore implements Store {
  readonly changes: Change[] = []
  #settle: ((error?: Error) => void)[] = []

  append(change: Change): Promise<void> {
    this.changes.push(change)
    return new Promise((resolve, reject) => {
      this.#settle.push((error) => (error === undefined ? resolve() : reject(error)))
    })
  }

  settleAll(error?: Error): void {
    for (const settle of this.#settle.splice(0)) settle(error)
  }
}

function durableWorld() {
  const options = embeddedOptions()
  const warnings: string[] = []
  const store = new HeldStore()
  const nobody = () => Promise.reject(new Error('Prism is not asked here'))
  const space = new Space(
    '',
    {
      ...options,
      contract: packagedContract(),
      systemClock: { wall: () => 0, monotonic: () => 0 },
      logBudget: new LogBudget(),
      hide: undefined,
      keys: new Keyring(loadSeed(options).keys, options.apiKeys),
      memoryRoom: new MemoryRoom(options.maxStore, () => {}),
      engine: { mock: nobody, check: nobody },
      warn: (message) => warnings.push(message),
      onExchange() {},
      onForget() {},
    },
    0,
    loadSeed(options),
    undefined,
    store,
  )
  return { space, store, warnings }
}

function post(space: Space): Promise<Reply> {
  const request: ServiceRequest = {
    method: 'POST',
    target: '/v1/pets',
    headers: { 'content-type': 'application/json' },
    rawHeaders: [],
    body: new TextEncoder().encode('{"name":"Rex","categoryId":1}'),
    address: 'test',
    heardUntil: 0,
  }
  return Promise.resolve(handle(space, request, 'sandbox', 0))
}

describe('a pet on a durable store', () => {
  it('is listed, and answered with 201, only when it is written', async () => {
    const { space, store } = durableWorld()
    const answer = post(space)
    expect(space.pets.has(60)).toBe(false)
    expect(space.log.total).toBe(0)
    store.settleAll()
    expect((await answer).status).toBe(201)
    expect(space.pets.has(60)).toBe(true)
    expect([...space.log]).toMatchObject([{ operation: 'createPet', status: 201 }])
  })

  it('is 500 and not listed when it cannot be written, and its id is given again', async () => {
    const { space, store, warnings } = durableWorld()
    const answers = [post(space), post(space)]
    store.settleAll(new Error('the disk is full'))
    const replies = await Promise.all(answers)
    expect(replies.map(({ status }) => status)).toEqual([500, 500])
    expect(replies[0]?.body).toMatch(/"code":"internal_error"/)
    expect(replies[0]?.body).not.toMatch(/disk/)
    expect(warnings.join()).toMatch(/the disk is full/)
    const next = post(space)
    store.settleAll()
    expect((await next).body).toMatch(/^\{"id":60,/)
  })

  it('keeps the ids of those under way apart', async () => {
    const { space, store } = durableWorld()
    const pets = [keepNewPet(space, { name: 'A', categoryId: 1 }), keepNewPet(space, { name: 'B', categoryId: 1 })]
    store.settleAll()
    expect((await Promise.all(pets)).map(({ id }) => id)).toEqual([60, 61])
  })
})
