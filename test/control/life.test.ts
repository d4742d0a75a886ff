import { describe, expect, it, vi } from 'vitest'
import { EventReader } from '../../src/control/event-reader.js'
import { type Exchange, type SandboxOptions, startSandbox } from '../../src/index.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'

const come = (holds: () => boolean | Promise<boolean>) =>
  vi.waitFor(async () => expect(await holds()).toBe(true), { timeout: STEP_PATIENCE_MS, interval: 1 })

/** A sandbox on a port, with its stream. */
async function start(options: SandboxOptions = {}, filter = '') {
  const sandbox = await startSandbox(options)
  const stream = new AbortController()
  const { body } = await fetch(`${sandbox.controlUrl}/requests/stream${filter}`, { signal: stream.signal })
  const events: { readonly event: string; readonly exchange: Exchange }[] = []
  const reader = new EventReader()
  const decoder = new TextDecoder()
  const read = async () => {
    for await (const chunk of body ?? [])
      for (const { event, data } of reader.read(decoder.decode(chunk, { stream: true })))
        events.push({ event, exchange: JSON.parse(data) })
  }
  const reading = read().catch(() => {})
  const ask = (path = '/pets', signal: AbortSignal | null = null) =>
    fetch(sandbox.baseUrl + path, { headers: { authorization: 'Bearer sandbox' }, signal })
  return {
    sandbox,
    events,
    words: () => events.map(({ event, exchange: { id } }) => `${event} ${id}`),
    ask,
    /** Sends a request. @returns leaves before it has a response */
    leaving(path: string) {
      const leaving = new AbortController()
      const left = expect(ask(path, leaving.signal)).rejects.toThrow()
      return async () => {
        leaving.abort()
        await left
      }
    },
    last: async () => (await sandbox.requests()).at(-1),
    /** Waits until the exchange under way has grown by more than `ms` between two looks. */
    async grows(ms: number) {
      await come(() => events.length === 1)
      const duration = async () => (await sandbox.requests()).at(-1)?.durationMs ?? 0
      const first = await duration()
      await come(async () => (await duration()) > first + ms)
    },
    async [Symbol.asyncDispose]() {
      stream.abort()
      await reading
      await sandbox.close()
    },
  }
}

describe('an exchange', () => {
  it('is in the log and on the stream from its arrival; a client that leaves ends it without a response', async () => {
    await using space = await start({ latency: '1h', seed: 1 })
    const leave = space.leaving('/pets?limit=1')
    await come(() => space.events.length === 1)
    const nothing = { status: null, ended: null, response: { headers: {}, body: '' } }
    expect(space.events).toMatchObject([
      { event: 'began', exchange: { id: 1, path: '/v1/pets', query: 'limit=1', durationMs: 0, ...nothing } },
    ])
    expect(await space.last()).toMatchObject({ id: 1, ...nothing })
    expect(await space.sandbox.requests({ status: 200 })).toEqual([])
    await space.grows(30)
    await leave()
    await come(() => space.events.length === 2)
    const exchange = await space.last()
    expect(exchange).toMatchObject({ ...nothing, ended: 'left', timing: { bodyMs: 0 } })
    expect(exchange?.timing.waitingMs).toBeGreaterThan(0)
  })

  it('has two events, the second of them complete, with latency apart from handling time', async () => {
    await using space = await start({ latency: '80ms' })
    await (await space.ask('/pets/1')).text()
    await come(() => space.events.length === 2)
    expect(space.words()).toEqual(['began 1', 'ended 1'])
    const exchange = await space.last()
    expect(space.events[1]?.exchange).toEqual(exchange)
    expect(exchange).toMatchObject({ status: 200, ended: 'sent', fault: null })
    const { durationMs = 0, timing } = exchange ?? {}
    expect(timing?.waitingMs).toBeGreaterThan(50)
    expect(durationMs).toBeGreaterThanOrEqual(timing?.waitingMs ?? 0)
    expect(timing?.handlingMs).toBeLessThan(durationMs)
  })

  it('is streamed in order with verbs, which show keys by their labels', async () => {
    await using space = await start({ apiKey: 'team=sk-secret-5678' })
    await space.sandbox.storm.start({ rate: 0.5 })
    await space.sandbox.ban('sk-secret-5678')
    await come(() => space.events.length === 2)
    const verbs = space.events.map(({ event, exchange }) => ({ event, ...exchange }))
    expect(verbs).toMatchObject([
      { event: 'verb', verb: 'storm.start', text: 'Storm started: 50 % of requests get 429.' },
      { event: 'verb', verb: 'keys.ban', text: expect.stringMatching(/^Key team is banned until /) },
    ])
    expect(JSON.stringify(verbs)).not.toContain('sk-secret')
  })

  it('has no status at its start, so a filter by status selects only its end', async () => {
    await using space = await start({}, '?status=200')
    await (await space.ask()).text()
    await come(() => space.events.length > 0)
    expect(space.words()).toEqual(['ended 1'])
  })

  it('is `left` in the middle of a slow body, with the time of the body', async () => {
    await using space = await start({ fault: 'listPets:slow-body' })
    const leaving = new AbortController()
    const response = await space.ask('/pets', leaving.signal)
    await space.grows(30)
    leaving.abort()
    await expect(response.text()).rejects.toThrow()
    await come(() => space.events.length === 2)
    const exchange = space.events[1]?.exchange
    expect(exchange).toMatchObject({ ended: 'left', reason: 'fault', status: 200, fault: 'slow-body' })
    expect(exchange?.timing.bodyMs).toBeGreaterThan(0)
  })
})
