import { type HttpHandler, HttpResponse, http } from 'msw'
import type { SocketlessSandbox } from '../api/controls.js'

export interface HandlersOptions {
  /** Address of the service in the code under test: `https://api.petstore.example/v1`; in a page also a path, such as `/api/v1`. */
  readonly baseUrl: string
}

/**
 * Handlers for MSW (`setupWorker`, `setupServer`) that pass requests for the service to a sandbox.
 *
 * Faults on the wire become network errors: a reset, an empty or a malformed response. Hanging requests hang, and
 * latency takes real time.
 *
 * @throws TypeError if the address is invalid
 */
export function handlers(
  sandbox: Pick<SocketlessSandbox, 'baseUrl' | 'fetch'>,
  { baseUrl }: HandlersOptions,
): HttpHandler[] {
  const base = absolute(baseUrl)
  // Not an MSW path: colons and stars have a meaning there.
  const below = new RegExp(`^${base.replaceAll(/[^\w/]/g, '\\$&')}(?:/|$)`)
  return [
    http.all(below, async ({ request }) => {
      const inSandbox = sandbox.baseUrl + request.url.slice(base.length)
      const init = await initOf(request)
      try {
        return await sandbox.fetch(inSandbox, { ...init, relayed: isPassedOn() })
      } catch {
        return HttpResponse.error()
      }
    }),
  ]
}

function absolute(baseUrl: string): string {
  const here = (globalThis as { readonly location?: { readonly href: string } }).location?.href
  if (!URL.canParse(baseUrl, here)) {
    throw new TypeError(
      `baseUrl ${JSON.stringify(baseUrl)}: must be the address of the service, for example https://api.petstore.example/v1`,
    )
  }
  const { origin, pathname } = new URL(baseUrl, here)
  return origin + pathname.replace(/\/+$/, '')
}

/** Whether a service worker is between client and handlers. Without one, MSW calls them in the client's process. */
function isPassedOn(): boolean {
  const { navigator } = globalThis as {
    readonly navigator?: { readonly serviceWorker?: { readonly controller: unknown } }
  }
  return Boolean(navigator?.serviceWorker?.controller)
}

async function initOf(request: Request): Promise<RequestInit> {
  const { method, headers, signal } = request
  const body = method === 'GET' || method === 'HEAD' ? new ArrayBuffer(0) : await request.arrayBuffer()
  return { method, headers, signal, ...(body.byteLength === 0 ? {} : { body }) }
}
