import { connect } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connectSandbox, createSandbox, startSandbox } from '../../src/index.js'
import { runSandbox } from '../../src/start/sandbox.js'
import { embeddedOptions } from '../support/embedded-options.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'

describe('the stream of exchanges', () => {
  it('ends when its space is removed', async () => {
    await using sandbox = await startSandbox()
    await sandbox.space('a').reset()
    const stream = await fetch(`${sandbox.controlUrl}/requests/stream?space=a`)
    await connectSandbox(sandbox.controlUrl).spaces.remove('a')
    expect(await stream.text()).toMatch(/^: connected/)
  })

  it('renders events once for all readers with the same filter, and others for another filter', async () => {
    await using sandbox = await createSandbox({ seed: 1 })
    const open = async (query: string) => {
      const { body } = await sandbox.fetch(`${sandbox.controlUrl}/requests/stream${query}`)
      const reader = body?.getReader()
      await reader?.read()
      return async () => (await reader?.read())?.value
    }
    const [one, two, other] = await Promise.all(['', '', '?status=404'].map(open))
    const ask = (path: string) =>
      sandbox.fetch(sandbox.baseUrl + path, { headers: { authorization: 'Bearer sandbox' } })
    await Promise.all([ask('/pets'), ask('/pets/404')])
    const events = await one?.()
    expect(new TextDecoder().decode(events).match(/^event: .*/gm)).toEqual(
      ['began', 'began', 'ended', 'ended'].map((name) => `event: ${name}`),
    )
    expect(await two?.()).toBe(events)
    expect(new TextDecoder().decode(await other?.()).match(/^event: .*/gm)).toEqual(['event: ended'])
  })

  it('is brief for a page: an exchange that ends at once is sent once, and a flood is cut after a burst', async () => {
    await using sandbox = await createSandbox({ seed: 1, rateLimit: false })
    const { body } = await sandbox.fetch(`${sandbox.controlUrl}/requests/stream?brief=true`)
    const events = body?.pipeThrough(new TextDecoderStream()).getReader()
    await events?.read()
    const ask = () => sandbox.fetch(`${sandbox.baseUrl}/pets/1`, { headers: { authorization: 'Bearer sandbox' } })
    await Promise.all([ask(), ask()])
    const text = (await events?.read())?.value ?? ''
    expect(text.match(/^event: .*/gm)).toEqual(['event: ended', 'event: ended'])
    const sent = 4000
    for (let n = 0; n < sent; n += 100) await Promise.all(Array.from({ length: 100 }, ask))
    let all = ''
    while (!all.includes(`data: {"id":${sent + 2},`)) all += (await events?.read())?.value ?? ''
    const shown = all.match(/^event: ended/gm)?.length ?? 0
    const dropped = [...all.matchAll(/^event: dropped\ndata: \{"count":(\d+)\}/gm)].reduce(
      (n, one) => n + Number(one[1]),
      0,
    )
    expect(shown + dropped).toBe(sent)
    expect(shown).toBeGreaterThanOrEqual(1900)
  })

  it('sends a page a flood in parts, at least 250 ms apart, and the exchanges of a part in their order', async () => {
    await using sandbox = await createSandbox({ seed: 1, rateLimit: false })
    const { body } = await sandbox.fetch(`${sandbox.controlUrl}/requests/stream?brief=true`)
    const events = body?.pipeThrough(new TextDecoderStream()).getReader()
    await events?.read()
    const ask = () => sandbox.fetch(`${sandbox.baseUrl}/pets/1`, { headers: { authorization: 'Bearer sandbox' } })
    const ids = async () => [...((await events?.read())?.value ?? '').matchAll(/^id: (\d+)/gm)].map(([, id]) => id)
    await Promise.all([ask(), ask()])
    expect(await ids()).toEqual(['1', '2'])
    const first = performance.now()
    await Promise.all([ask(), ask(), ask()])
    expect(await ids()).toEqual(['3', '4', '5'])
    expect(performance.now() - first).toBeGreaterThan(200)
  })

  it('shows a page an exchange that is under way, and then its end', async () => {
    await using sandbox = await startSandbox({ seed: 1, fault: ['getPet:hang*1'] })
    const { body } = await fetch(`${sandbox.controlUrl}/requests/stream?brief=true`)
    const events = body?.pipeThrough(new TextDecoderStream()).getReader()
    await events?.read()
    const leaving = new AbortController()
    const headers = { authorization: 'Bearer sandbox' }
    const asked = fetch(`${sandbox.baseUrl}/pets/1`, { headers, signal: leaving.signal }).catch(() => 'left')
    const next = async () => ((await events?.read())?.value ?? '').match(/^(?:event: .*|data: \{"id":\d+)/gm)
    expect(await next()).toEqual(['event: began', 'data: {"id":1'])
    leaving.abort()
    expect(await asked).toBe('left')
    expect(await next()).toEqual(['event: ended', 'data: {"id":1'])
    await events?.cancel()
  })

  it('tells a page in a flood of the end of an exchange that it has shown as under way', async () => {
    await using sandbox = await createSandbox({ seed: 1, rateLimit: false, fault: ['createPet:hang*1'] })
    const { body } = await sandbox.fetch(`${sandbox.controlUrl}/requests/stream?brief=true`)
    const events = body?.pipeThrough(new TextDecoderStream()).getReader()
    await events?.read()
    const headers = { authorization: 'Bearer sandbox', 'content-type': 'application/json' }
    const leaving = new AbortController()
    const pet = JSON.stringify({ name: 'Rex', categoryId: 1 })
    const asked = sandbox
      .fetch(`${sandbox.baseUrl}/pets`, { method: 'POST', headers, body: pet, signal: leaving.signal })
      .catch(() => 'left')
    expect((await events?.read())?.value).toMatch(/^event: began\ndata: \{"id":1,/)
    leaving.abort()
    expect(await asked).toBe('left')
    const sent = 6000
    for (let n = 0; n < sent; n += 100)
      await Promise.all(Array.from({ length: 100 }, () => sandbox.fetch(`${sandbox.baseUrl}/pets/1`, { headers })))
    let all = ''
    while (!all.includes(`data: {"id":${sent + 1},`)) all += (await events?.read())?.value ?? ''
    expect(all).toMatch(/^event: dropped/m)
    expect(all).toMatch(/^event: ended\ndata: \{"id":1,/m)
  })

  it('skips a reader that does not read, and tells it later how many exchanges it missed', async () => {
    await using sandbox = await createSandbox({ seed: 1, rateLimit: false })
    async function open() {
      const { body } = await sandbox.fetch(`${sandbox.controlUrl}/requests/stream`)
      const events = body?.pipeThrough(new TextDecoderStream()).getReader()
      /** Reads to the end of an exchange. */
      return async (id: number) => {
        let text = ''
        while (!text.includes(`event: ended\ndata: {"id":${id},`)) text += (await events?.read())?.value ?? ''
        return text
      }
    }
    const [readSlowly, read] = [await open(), await open()]
    async function add() {
      const response = await sandbox.fetch(`${sandbox.baseUrl}/pets`, {
        method: 'POST',
        headers: { authorization: 'Bearer sandbox', 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'x'.repeat(60_000), categoryId: 1 }),
      })
      await response.text()
    }
    for (let id = 1; id <= 20; id++) {
      await add()
      expect(await read(id)).not.toContain('dropped')
    }
    const late = readSlowly(21)
    // Reads what is buffered.
    await endOfTurn()
    await add()
    const text = await late
    const missed = Number(/event: dropped\ndata: {"count":(\d+)}/.exec(text)?.[1])
    expect(missed).toBeGreaterThan(0)
    expect(missed + (text.match(/^event: ended/gm) ?? []).length).toBe(21)
  })

  it('ends immediately for HEAD', async () => {
    const sandbox = await runSandbox(embeddedOptions())
    onTestFinished(() => sandbox.stop('now'))
    const follow = vi.spyOn(sandbox.core.spaces.default.log, 'follow')
    const { status, headers } = await fetch(`${sandbox.controlUrl}/requests/stream`, { method: 'HEAD' })
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(follow).not.toHaveBeenCalled()
  })

  it('ends when its client leaves, also before its turn in the pipeline', async () => {
    const sandbox = await runSandbox(embeddedOptions({ fault: 'getPet:hang' }))
    onTestFinished(() => sandbox.stop('now'))
    const { log } = sandbox.core.spaces.default
    const follow = log.follow.bind(log)
    let followers = 0
    vi.spyOn(log, 'follow').mockImplementation((follower) => {
      const unfollow = follow(follower)
      followers++
      return () => {
        followers--
        unfollow()
      }
    })
    const socket = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1')
    const one = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sandbox\r\n\r\n`
    // They share one follower, which ends with the last of them.
    socket.write(one('/v1/pets/1') + one('/__sandbox/requests/stream').repeat(20))
    await vi.waitFor(() => expect(followers).toBe(1), STEP_PATIENCE_MS)
    socket.resetAndDestroy()
    await vi.waitFor(() => expect(followers).toBe(0), STEP_PATIENCE_MS)
  })
})
