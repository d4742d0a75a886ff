import { connect } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connectSandbox, startSandbox } from '../../src/index.js'
import { runSandbox } from '../../src/sandbox.js'
import { embeddedOptions } from '../support/embedded-options.js'

describe('the stream of exchanges', () => {
  it('ends when its space is removed', async () => {
    await using sandbox = await startSandbox()
    await sandbox.space('a').reset()
    const stream = await fetch(`${sandbox.controlUrl}/requests/stream?space=a`)
    await connectSandbox(sandbox.controlUrl).spaces.remove('a')
    expect(await stream.text()).toMatch(/^: connected/)
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
    socket.write(one('/v1/pets/1') + one('/__sandbox/requests/stream').repeat(20))
    await vi.waitFor(() => expect(followers).toBe(20), 30_000)
    socket.resetAndDestroy()
    await vi.waitFor(() => expect(followers).toBe(0), 30_000)
  })
})
