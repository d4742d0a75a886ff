import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

interface ProxyOptions {
  /** Required credentials: `user:password`. */
  readonly credentials?: string
  /** Ports that it opens tunnels to. Default: only 443, as most proxies do. */
  readonly tunnels?: readonly number[]
}

/** A proxy that leads every host to this machine, since servers of tests listen nowhere else. Gone after the test. */
export async function proxyServer({ credentials, tunnels = [443] }: ProxyOptions = {}) {
  /** Method and target, as they came. */
  const asked: { readonly line: string; readonly headers: IncomingMessage['headers'] }[] = []
  const sockets = new Set<Socket>()
  const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
  const isWelcome = ({ headers }: IncomingMessage) =>
    expected === undefined || headers['proxy-authorization'] === expected

  const server = createServer((came, response) => {
    asked.push({ line: `${came.method} ${came.url}`, headers: came.headers })
    if (!isWelcome(came)) {
      response.writeHead(407, { 'Proxy-Authenticate': 'Basic realm="way out"' }).end('<h1>Who are you?</h1>')
      return
    }
    const { pathname, search, port } = new URL(came.url ?? '')
    const { 'proxy-authorization': _, 'proxy-connection': __, ...headers } = came.headers
    const onward = request(
      { host: '127.0.0.1', port, method: came.method, path: pathname + search, headers },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(response)
      },
    )
    onward.on('error', () => response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Nobody there</h1>'))
    came.pipe(onward)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('connect', (came: IncomingMessage, socket: Socket) => {
    asked.push({ line: `CONNECT ${came.url}`, headers: came.headers })
    const port = Number(came.url?.split(':').at(-1))
    const refusal = !isWelcome(came) ? '407 Proxy Authentication Required' : !tunnels.includes(port) ? '403 Denied' : ''
    if (refusal !== '') {
      socket.end(`HTTP/1.1 ${refusal}\r\nContent-Length: 0\r\n\r\n`)
      return
    }
    const onward = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'))
    onward.on('error', () => socket.destroy())
    socket.on('close', () => onward.destroy())
    socket.pipe(onward)
    onward.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  return { asked, address: `127.0.0.1:${port}` }
}
