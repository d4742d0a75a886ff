import { createServer } from 'node:http'
import sirv from 'sirv'
import { openPort } from './open-port.js'

export interface ServedSite {
  readonly port: number
  stop(): Promise<void>
}

const HEADERS = {
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/**
 * Serves a folder on loopback. Browsers revalidate cached files, so that they use a new build immediately.
 * @param port   0 for any free port
 * @param policy Content-Security-Policy
 * @throws Failure PORT_IN_USE, PORT_FORBIDDEN
 */
export async function serveSite(folder: string, port: number, policy: string): Promise<ServedSite> {
  const files = sirv(folder, { etag: true, gzip: true })
  const server = createServer((request, response) => {
    const { method, headers } = request
    for (const [name, value] of Object.entries({ ...HEADERS, 'Content-Security-Policy': policy }))
      response.setHeader(name, value)
    if (!LOOPBACK.test(headers.host ?? '')) return refuse(403, 'Only requests for localhost are allowed.')
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD')
      return refuse(405, 'Only GET and HEAD are allowed.')
    }
    files(request, response, () => refuse(404, 'File not found.'))

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
