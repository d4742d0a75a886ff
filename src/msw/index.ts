import { type HttpHandler, HttpResponse, http } from 'msw'
import type { SocketlessSandbox } from '../api/sandbox.js'

/** Where the service is, as the code under test knows it. */
export interface HandlersOptions {
  /** `https://api.petstore.example/v1`; in a page also a path, such as `/api/v1`. */
  readonly baseUrl: string
}

/**
 * Handlers of MSW (`setupWorker`, `setupServer`) which have a sandbox answer for the service.
 *
 * What the sandbox does to the wire, the client meets as a failing network: a reset, an empty or a broken answer.
 * A request that hangs hangs, and latency takes its time.
 *
 * @throws TypeError if the address is none
 */
export function handlers(
  sandbox: Pick<SocketlessSandbox, 'baseUrl' | 'fetch'>,
  { baseUrl }: HandlersOptions,
): HttpHandler[] {
  const base = absolute(baseUrl)
  // Not a path of MSW's own, in which a colon or a star of the address would mean something else.
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

/** Whether a service worker is between the page and its handlers: without one, MSW calls them in the client's own process. */
function isPassedOn(): boolean {
  const { navigator } = globalThis as {
    readonly navigator?: { readonly serviceWorker?: { readonly controller: unknown } }
  }
  return Boolean(navigator?.serviceWorker?.controller)
}

/** What a request is made of, to be sent to another address. */
async function initOf(request: Request): Promise<RequestInit> {
  const { method, headers, signal } = request
  const body = method === 'GET' || method === 'HEAD' ? new ArrayBuffer(0) : await request.arrayBuffer()
  return { method, headers, signal, ...(body.byteLength === 0 ? {} : { body }) }
}
