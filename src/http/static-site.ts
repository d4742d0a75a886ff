import { createServer } from 'node:http'
import sirv from 'sirv'
import { openPort } from './open-port.js'

export interface ServedSite {
  readonly port: number
  /** Resolves when the port is free. */
  stop(): Promise<void>
}

const HEADERS = {
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/**
 * Serves a folder of files on loopback, only for loopback hosts. Browsers revalidate cached files, so that a new build
 * is used at once.
 *
 * @param port   0 for any free one
 * @param policy Content-Security-Policy
 * @throws Failure PORT_IN_USE, PORT_FORBIDDEN
 */
export async function serveSite(folder: string, port: number, policy: string): Promise<ServedSite> {
  const files = sirv(folder, { etag: true, gzip: true, brotli: true })
  const server = createServer((request, response) => {
    const { method, headers } = request
    for (const [name, value] of Object.entries({ ...HEADERS, 'Content-Security-Policy': policy }))
      response.setHeader(name, value)
    if (!LOOPBACK.test(headers.host ?? '')) return refuse(403, 'This address is for this machine only.')
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD')
      return refuse(405, 'There are only files here.')
    }
    files(request, response, () => refuse(404, 'There is no such file.'))

    function refuse(status: number, why: string): void {
      response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' })
      response.end(`${why}\n`)
    }
  })
  const address = await openPort(server, '127.0.0.1', port)
  return {
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Prevents DNS rebinding. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/i
