import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure } from '../domain/failures.js'

/** @param port 0 for any free port @throws Failure PORT_IN_USE, PORT_FORBIDDEN, HOST_UNAVAILABLE */
export function openPort(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    // Never removed: a later error (too many open files) must not end the process.
    server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)))
    server.listen(port, host, () => resolve(server.address() as AddressInfo))
  })
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return new Failure(
        'PORT_IN_USE',
        `Port ${port} of ${host} is in use. Stop the other process, choose another port with --port, or use --port 0.`,
      )
    case 'EACCES':
      return new Failure('PORT_FORBIDDEN', `This user may not open port ${port}. Choose a port above 1023 with --port.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new Failure(
        'HOST_UNAVAILABLE',
        `"${host}" is not an address of this machine. Choose another address with --host.`,
      )
    default:
      return error
  }
}
