import { describe, expect, it } from 'vitest'
import { packagedContract } from '../../src/contract/packaged-contract.js'
import { handle } from '../../src/core/handle-request.js'
import { Keyring } from '../../src/core/keyring.js'
import { MemoryRoom } from '../../src/core/memory-room.js'
import { Space } from '../../src/core/space.js'
import type { Reply } from '../../src/domain/messages.js'
import type { Change } from '../../src/domain/state.js'
import { LogBudget } from '../../src/exchanges/exchange-log.js'
import { loadSeed } from '../../src/fixtures/load-fixtures.js'
import { type ChangeWriter, Keeper } from '../../src/store/keeper.js'
import { embeddedOptions } from '../support/embedded-options.js'

/** A store whose writes wait until the test lets them succeed or fail. */
class HeldStore implements ChangeWriter {
  readonly written: Change[][] = []
  #taken: Change[] = []
  #settle: ((error?: Error) => void)[] = []

  take(change: Change): void {
    this.#taken.push(change)
  }

  write(): Promise<void> {
    this.written.push(this.#taken)
    this.drop()
    return new Promise((resolve, reject) => {
      this.#settle.push((error) => (error === undefined ? resolve() : reject(error)))
    })
  }

  drop(): void {
    this.#taken = []
  }

  settleAll(error?: Error): void {
    for (const settle of this.#settle.splice(0)) settle(error)
  }
}

function durableSpace() {
  const options = embeddedOptions()
  const warnings: string[] = []
  const store = new HeldStore()
  const keeper = new Keeper(store, (message) => warnings.push(message))
  const space = new Space(
    '',
    {
      ...options,
      contract: packagedContract(),
      logBudget: new LogBudget(),
      hide: undefined,
      keys: new Keyring(loadSeed(options).keys, options.apiKeys),
      memoryRoom: new MemoryRoom(options.maxStore, () => {}),
      warn: (message) => warnings.push(message),
      onExchange: undefined,
      onForget() {},
      onRecall() {},
    },
    0,
    loadSeed(options),
    undefined,
    keeper,
  )
  let position = 0
  const ask = (method: string, target: string, body?: string): Reply => {
    const request = {
      method,
      target,
      headers: { 'content-type': 'application/json' },
      rawHeaders: [],
      body: body === undefined ? undefined : new TextEncoder().encode(body),
      address: 'test',
      connection: 0,
      heardUpTo: 0,
    }
    const reply = handle(space, { kind: 'request', request }, 'sandbox', { now: 0, position: ++position })
    if ('forward' in reply) throw new Error('It was sent on.')
    if (reply.isOperated) keeper.watch(reply)
    return reply
  }
  const post = () => ask('POST', '/v1/pets', '{"name":"Rex","categoryId":1}')
  return { space, store, keeper, warnings, ask, post }
}

describe('a pet on a durable store', () => {
  it('is added at once, and written before its 201 leaves', async () => {
    const { space, store, keeper, post } = durableSpace()
    const reply = post()
    expect(reply.status).toBe(201)
    expect(space.pets.has(60)).toBe(true)
    const settled = keeper.settle()
    expect(store.written).toMatchObject([[{ kind: 'pet', pet: { id: 60 } }]])
    store.settleAll()
    await settled
    expect(reply.withheld).toBeUndefined()
  })

  it('is written with the others of its turn, in their order', () => {
    const { store, keeper, post } = durableSpace()
    for (let i = 0; i < 3; i++) post()
    void keeper.settle()
    expect(store.written).toMatchObject([[{ pet: { id: 60 } }, { pet: { id: 61 } }, { pet: { id: 62 } }]])
  })

  it('is taken back when it cannot be written, and its id is given again', async () => {
    const { space, store, keeper, warnings, ask, post } = durableSpace()
    const before = ask('GET', '/v1/pets/60')
    const replies = [post(), post(), ask('GET', '/v1/pets/60')]
    const settled = keeper.settle()
    store.settleAll(new Error('the disk is full'))
    await settled
    expect(replies.map(({ withheld }) => withheld)).toEqual(replies.map(() => expect.any(Error)))
    expect(before.withheld).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining('the disk is full')])
    expect(space.pets.has(60)).toBe(false)
    expect(post().body).toMatch(/^\{"id":60,/)
  })

  it('goes with the pet that could not be written before it', async () => {
    const { space, store, keeper, post } = durableSpace()
    const first = post()
    const settled = keeper.settle()
    const second = post()
    store.settleAll(new Error('the disk is full'))
    await settled
    await keeper.settle()
    expect([first.withheld, second.withheld]).toEqual([expect.any(Error), expect.any(Error)])
    expect(space.pets.size).toBe(59 + 1)
    expect(store.written).toHaveLength(1)
  })

  it('does not go where only what comes after it cannot be written', async () => {
    const { space, store, keeper, post } = durableSpace()
    const first = post()
    const kept = keeper.settle()
    const second = post()
    const lost = keeper.settle()
    store.settleAll()
    await kept
    await new Promise(setImmediate)
    store.settleAll(new Error('the disk is full'))
    await lost
    expect([first.withheld, second.withheld]).toEqual([undefined, expect.any(Error)])
    expect(space.pets.has(60)).toBe(true)
    expect(space.pets.has(61)).toBe(false)
  })
})
