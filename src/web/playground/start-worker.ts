import type { WorkerRequest } from './worker-messages.js'

/**
 * Starts the sandbox of this site if necessary, and waits until it responds.
 * @throws Error if the browser does not allow service workers, or failed to load this one
 */
export async function startWorker(): Promise<ServiceWorkerRegistration> {
  // Undefined without HTTPS, and in private windows of some browsers.
  const container: ServiceWorkerContainer | undefined = navigator.serviceWorker
  if (container === undefined) {
    throw new Error(
      isSecureContext
        ? 'The sandbox needs a service worker, which this window does not allow. Open the page in a normal window.'
        : 'The sandbox needs a service worker, which browsers only allow over HTTPS or on localhost. Open the page there.',
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

/** Rejects if the first worker of the site cannot be installed, for example from an incomplete site; never resolves. */
function failureOf({ installing, active }: ServiceWorkerRegistration): Promise<never> {
  return new Promise((_resolve, reject) => {
    installing?.addEventListener('statechange', () => {
      if (installing.state === 'redundant' && active === null)
        reject(new Error('The sandbox could not be loaded completely. Check the connection, then reload the page.'))
    })
  })
}
