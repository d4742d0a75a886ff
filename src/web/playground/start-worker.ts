import type { WorkerRequest } from './worker-messages.js'

/**
 * Starts the sandbox of this site unless it is running, and waits until it answers this page.
 *
 * @throws Error if the browser runs no service workers, or could not load this one
 */
export async function startWorker(): Promise<ServiceWorkerRegistration> {
  // Undefined without HTTPS and in private windows of some browsers.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker
  if (container === undefined) {
    throw new Error(
      isSecureContext
        ? 'This window runs no service workers, and the sandbox is one. Open the page in an ordinary window.'
        : 'The sandbox is a service worker, and browsers run those over HTTPS or from localhost only. Open the page there.',
    )
  }
  const isControlled = new Promise<void>((resolve) => {
    if (container.controller !== null) resolve()
    container.addEventListener('controllerchange', () => resolve(), { once: true })
  })
  const registration = await container.register(new URL('../sw.js', import.meta.url)).catch((error: unknown) => {
    throw new Error(`The sandbox could not be loaded: ${String(error)}. Reload the page.`)
  })
  send(registration.active, 'claim')
  await Promise.race([isControlled, failureOf(registration)])
  return registration
}

export function send(worker: ServiceWorker | null | undefined, request: WorkerRequest): void {
  worker?.postMessage(request)
}

/** Never resolves; rejects if the first worker of the site cannot be installed, for example from an incomplete site. */
function failureOf({ installing, active }: ServiceWorkerRegistration): Promise<never> {
  return new Promise((_resolve, reject) => {
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'redundant' && active === null)
        reject(new Error('The sandbox could not be loaded whole. Check the connection, then reload the page.'))
    })
  })
}
