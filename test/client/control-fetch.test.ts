import { expect, it } from 'vitest'
import { fetchControl } from '../../src/client/control-fetch.js'
import { STEP_PATIENCE_MS } from '../support/patience.js'
import { hostileServer, sendEndlessly } from './hostile-server.js'

const MIB = 1024 * 1024
const LIMITS = { timeout: STEP_PATIENCE_MS, maxBody: MIB }

it('reads a response that is exactly as large as allowed', async () => {
  const url = await hostileServer((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(MIB)}`))
  expect((await fetchControl(url, {}, LIMITS)).text).toHaveLength(MIB)
})

it.each<[what: string, act: Parameters<typeof hostileServer>[0]]>([
  ['that has no end', (socket) => sendEndlessly(socket, 'HTTP/1.1 200 OK', Buffer.alloc(65_536))],
  ['that says that it is too large', (socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n')],
])('does not read one %s', async (_what, act) =>
  expect(fetchControl(await hostileServer(act), {}, LIMITS)).rejects.toThrow('larger than 1MiB'),
)

it('waits neither for headers nor for a body longer than it may', async () => {
  for (const begun of ['HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{']) {
    const url = await hostileServer((socket) => socket.write(begun))
    await expect(fetchControl(url, {}, { ...LIMITS, timeout: 100 })).rejects.toMatchObject({ name: 'TimeoutError' })
  }
})

it('follows no redirect', async () => {
  const url = await hostileServer((socket) =>
    socket.end('HTTP/1.1 307 Away\r\nLocation: http://elsewhere.invalid/\r\nContent-Length: 0\r\n\r\n'),
  )
  expect(await fetchControl(url, {}, LIMITS)).toEqual({ status: 307, text: '' })
})
