import { createServer, request as forward } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectSandbox } from '../../src/index.js'
import { listenLocally } from '../support/listen-locally.js'
import { spawnServe } from '../support/spawned-serve.js'
import { temporaryFolder } from '../support/temporary-files.js'

it('fake timers and the clock of another process move in one step for each timer, and one for the rest', async () => {
  const serve = await spawnServe(temporaryFolder(), '--in-memory', '--freeze', '--limits', '1/day')
  onTestFinished(async () => void (await serve.end('SIGTERM')))
  const { origin } = new URL(serve.controlUrl)
  const asked: (string | undefined)[] = []
  const relay = createServer((request, response) => {
    asked.push(request.url)
    const forwarded = forward(origin + request.url, { method: request.method ?? '', headers: request.headers })
    forwarded.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers)))
    request.pipe(forwarded)
  })
  const sandbox = connectSandbox(await listenLocally(relay))

  const statuses: number[] = []
  const list = async (times: number): Promise<void> => {
    const response = await fetch(`${origin}/v1/pets`, { headers: { authorization: 'Bearer sandbox' } })
    await response.text()
    statuses.push(response.status)
    const wait = Number(response.headers.get('retry-after')) * 1000
    if (response.status === 429) setTimeout(() => void list(times), wait)
    else if (times > 1) await list(times - 1)
  }
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  void list(3)
  await sandbox.clock.advance('48h', { timers: vi })
  expect(statuses).toEqual([200, 429, 200, 429, 200])
  // Two of the client, and those by which fetch frees its connection after each response.
  expect(asked.filter((path) => path?.includes('/clock/advance')).length).toBeLessThanOrEqual(2 + statuses.length + 1)
  expect((await sandbox.conduct()).violations).toEqual([])
})

it.each(['127.0.0.1', 'localhost'])(
  'the clock of another process waits for requests that are on their way: at %s, which a new connection precedes',
  async (host) => {
    const serve = await spawnServe(temporaryFolder(), '--in-memory', '--freeze', '--limits', '1/day')
    onTestFinished(async () => void (await serve.end('SIGTERM')))
    const { origin } = new URL(serve.controlUrl)
    const root = connectSandbox(origin)
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    for (let round = 0; round < 10; round++) {
      const sandbox = root.space(`round-${round}`)
      await sandbox.reset()
      const address = (await sandbox.baseUrl()).replace('127.0.0.1', host)
      const statuses: number[] = []
      const list = async (times: number): Promise<void> => {
        const response = await fetch(`${address}/pets`, { headers: { authorization: 'Bearer sandbox' } })
        await response.text()
        statuses.push(response.status)
        const wait = Number(response.headers.get('retry-after')) * 1000
        if (response.status === 429) setTimeout(() => void list(times), wait)
        else if (times > 1) await list(times - 1)
      }
      void list(3)
      await sandbox.clock.advance('48h', { timers: vi })
      expect(statuses).toEqual([200, 429, 200, 429, 200])
    }
  },
)
