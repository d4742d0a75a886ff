import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure } from '../domain/failures.js'

/**
 * Opens a server's port.
 *
 * @param port 0 for any free one
 * @throws Failure PORT_IN_USE, PORT_FORBIDDEN, HOST_UNAVAILABLE
 */
export function openPort(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    // Stays: an error of a listening server (too many open files) must not end the process.
    server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)))
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new Failure('PORT_IN_USE', `${host}:${port} is taken. Choose another with --port, or 0 for any free one.`)
    case 'EACCES':
      return new Failure(
        'PORT_FORBIDDEN',
        `Port ${port} is not allowed for this user. Choose one above 1023 with --port.`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Failure('HOST_UNAVAILABLE', `"${host}" is not an address of this machine. Choose another with --host.`)
    default:
      return error
  }
}
