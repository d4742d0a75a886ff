import { CONTROL_PATH, DASHBOARD_PATH, isControl } from '../control/path.js'
import { errorBody } from '../domain/problems.js'
import type { Keeping, WorkerRequest } from '../web/playground/worker-messages.js'
import { KeptSandbox } from './kept-sandbox.js'
import { type Site, SiteFiles } from './site-files.js'

// The playground's service worker: to its pages it is the web host, the service and the control plane.

declare const self: ServiceWorkerGlobalScope
/** Put in by the build. */
declare const SITE: Site

/** Address of the site, wherever it is hosted; everything below it is asked of this worker. */
const scope = new URL(self.registration.scope)
/** Path of the site without the slash at its end, empty at the root of a host. */
const root = scope.pathname.slice(0, -1)
const basePath = `${root}/v1`
const files = new SiteFiles(SITE, scope)
const sandbox = new KeptSandbox(`petstore-sandbox ${scope.pathname}`, basePath, (keeping) => void tellAll(keeping))

self.addEventListener('install', (event) => event.waitUntil(files.load()))

self.addEventListener('activate', (event) => event.waitUntil(Promise.all([files.removeOthers(), self.clients.claim()])))

self.addEventListener('message', (event) => {
  const { data, source }: { readonly data: WorkerRequest; readonly source: ExtendableMessageEvent['source'] } = event
  if (data === 'take-over') {
    event.waitUntil(self.skipWaiting())
    self.registration.active?.postMessage('step-aside' satisfies WorkerRequest)
  } else if (data === 'step-aside') event.waitUntil(sandbox.stepAside())
  else if (data === 'claim') event.waitUntil(self.clients.claim())
  else if (data === 'keeping') event.waitUntil(sandbox.keeping().then((keeping) => source?.postMessage(keeping)))
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname, search } = new URL(request.url)
  if (origin !== scope.origin || !pathname.startsWith(scope.pathname)) return
  const address = pathname.slice(scope.pathname.length)
  const isService = pathname === basePath || pathname.startsWith(`${basePath}/`)
  const path = pathname.slice(root.length)
  if (files.has(address)) event.respondWith(files.answer(address))
  else if (path === CONTROL_PATH) event.respondWith(Response.redirect(root + DASHBOARD_PATH + search))
  else if (isService) event.respondWith(answer(event, request.url))
  else if (isControl(path)) event.respondWith(answer(event, scope.origin + path + search))
})

async function answer(event: FetchEvent, url: string): Promise<Response> {
  const { request } = event
  const { method, headers, mode, signal } = request
  // A form of another site can send one of these; what sends it cannot be seen from here.
  if (mode === 'navigate' && method !== 'GET') return refusal()
  const body = method === 'GET' || method === 'HEAD' ? undefined : await request.arrayBuffer()
  const sent = new Request(url, { method, headers, signal, ...(body === undefined ? {} : { body }) })
  return sandbox.answer(sent, (work) => event.waitUntil(work))
}

function refusal(): Response {
  const body = errorBody('forbidden', 'A form may not steer the sandbox. Use fetch from a page of this site.', 403)
  return new Response(body, { status: 403, headers: { 'Content-Type': 'application/json' } })
}

async function tellAll(keeping: Keeping): Promise<void> {
  for (const client of await self.clients.matchAll()) client.postMessage(keeping)
}
