import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A server with custom behaviour on each request; closed after the test. */
export async function hostileServer(act: (socket: Socket, asked: string) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', (chunk) => act(socket, chunk.toString('latin1')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

/** Sends a body without end in pieces, as fast as it is taken. */
export function sendEndlessly(socket: Socket, head: string, piece: Buffer): void {
  socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n`)
  repeatEndlessly(socket, Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]))
}

/** Sends the same without end, as fast as it is taken. */
function repeatEndlessly(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}

/** Announces an endless response, and never ends it. */
export function promiseEndlessly(socket: Socket): void {
  repeatEndlessly(socket, Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'.repeat(100)))
}
