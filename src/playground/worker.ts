import { CONTROL_PATH, DASHBOARD_PATH, isControl } from '../control/path.js'
import { errorBody } from '../domain/problems.js'

import { DEFAULT_BASE_PATH } from '../options/options.js'
import { type Keeping, TIMED_REQUEST, type WorkerRequest } from '../web/playground/worker-messages.js'

import { PersistentSandbox } from './persistent-sandbox.js'
import { type Site, SiteFiles } from './site-files.js'

// The playground's service worker: for its pages it is the web host, the service and the control plane.

declare const self: ServiceWorkerGlobalScope
declare const SITE: Site

/** Address of the site; this worker handles every request below it. */
const scope = new URL(self.registration.scope)
/** Path of the site without a trailing slash, empty at the root of a host. The sandbox does not know it. */
const root = scope.pathname.slice(0, -1)
const files = new SiteFiles(SITE, scope)
const sandbox = new PersistentSandbox(`petstore-sandbox ${scope.pathname}`, (keeping) => void reportToAll(keeping))

self.addEventListener('install', (event) => event.waitUntil(files.load()))

self.addEventListener('activate', (event) => event.waitUntil(Promise.all([files.removeOthers(), self.clients.claim()])))

self.addEventListener('message', (event) => {
  const { data, source }: { readonly data: WorkerRequest; readonly source: ExtendableMessageEvent['source'] } = event
  if (data === 'take-over') {
    // First: Chromium stops an idle worker at once, and a message that starts it again would block this one.
    self.registration.active?.postMessage('step-aside' satisfies WorkerRequest)
    event.waitUntil(self.skipWaiting())
  } else if (data === 'step-aside') event.waitUntil(sandbox.stepAside())
  else if (data === 'claim') event.waitUntil(self.clients.claim())
  else if (data === 'keeping') event.waitUntil(sandbox.keeping().then((keeping) => source?.postMessage(keeping)))
})

self.addEventListener('fetch', (event) => {
  const { request } = event
  const { origin, pathname, search } = new URL(request.url)
  if (origin !== scope.origin || !pathname.startsWith(scope.pathname)) return
  const address = pathname.slice(scope.pathname.length)
  const path = pathname.slice(root.length)
  if (files.has(address)) event.respondWith(files.answer(address))
  else if (address === TIMED_REQUEST) event.respondWith(answerTimed(event, new URLSearchParams(search)))
  else if (path === CONTROL_PATH) event.respondWith(Response.redirect(root + DASHBOARD_PATH + search))
  else if (isControl(path) || isService(path)) event.respondWith(answer(event, path, search))
})

function isService(path: string): boolean {
  return path === DEFAULT_BASE_PATH || path.startsWith(`${DEFAULT_BASE_PATH}/`)
}

async function answerTimed(event: FetchEvent, fields: URLSearchParams): Promise<Response> {
  if (event.request.mode === 'navigate') return forbidden()
  const space = fields.get('space') ?? ''
  return Response.json(await sandbox.send(space, Number(fields.get('at')), (work) => event.waitUntil(work)))
}

async function answer(event: FetchEvent, path: string, search: string): Promise<Response> {
  const { request } = event
  const { method, headers, mode, signal } = request
  // The form of another site may have sent it; a worker cannot see the sender.
  if (mode === 'navigate' && method !== 'GET') return forbidden()
  const body = method === 'GET' || method === 'HEAD' ? undefined : await request.arrayBuffer()
  const sent = new Request(scope.origin + path + search, {
    method,
    headers,
    signal,
    ...(body === undefined ? {} : { body }),
  })
  const response = await sandbox.answer(sent, (work) => event.waitUntil(work))
  return root === '' ? response : relocated(response, path)
}

async function relocated(response: Response, path: string): Promise<Response> {
  const { status, headers } = response
  const link = headers.get('Link')
  if (link !== null) headers.set('Link', link.replaceAll('</', `<${root}/`))
  if (!CONTRACTS.has(path)) return response
  const text = await response.text()
  return new Response(text.replaceAll(scope.origin, scope.origin + root), { status, headers })
}

const CONTRACTS: ReadonlySet<string> = new Set(['json', 'yaml'].map((form) => `${CONTROL_PATH}/openapi.${form}`))

function forbidden(): Response {
  const body = errorBody('forbidden', 'Forms cannot control the sandbox. Use fetch from a page of this site.', 403)
  return new Response(body, { status: 403, headers: { 'Content-Type': 'application/json' } })
}

async function reportToAll(keeping: Keeping): Promise<void> {
  for (const client of await self.clients.matchAll()) client.postMessage(keeping)
}
