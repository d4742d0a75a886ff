import { Observable } from '../dashboard/store.js'
import { startWorker, tell } from './start-worker.js'
import type { Keeping } from './worker-messages.js'

interface WorkerState {
  readonly phase: 'starting' | 'running' | 'failed'
  /** Why it failed. */
  readonly error: string | undefined
  readonly keeping: Keeping | undefined
  /** A newer version of the site is loaded, and waits for its turn. */
  readonly isOutdated: boolean
}

/** The page's view of the worker that runs the sandbox, and of newer ones. */
export class SiteWorker {
  readonly store = new Observable<WorkerState>({
    phase: 'starting',
    error: undefined,
    keeping: undefined,
    isOutdated: false,
  })
  #registration: ServiceWorkerRegistration | undefined

  /** @returns whether the sandbox answers */
  async start(): Promise<boolean> {
    try {
      this.#registration = await startWorker()
    } catch (error) {
      this.store.set({ phase: 'failed', error: error instanceof Error ? error.message : String(error) })
      return false
    }
    this.#watch(this.#registration)
    this.store.set({ phase: 'running' })
    return true
  }

  /** Puts the newer version in the place of this one: all tabs are loaded again. */
  update(): void {
    tell(this.#registration?.waiting, 'take-over')
  }

  #watch(registration: ServiceWorkerRegistration): void {
    const look = () => this.store.set({ isOutdated: registration.waiting !== null })
    registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look))
    look()
    navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<Keeping>) =>
      this.store.set({ keeping: data }),
    )
    tell(registration.active, 'keeping')
    // Its pages are other ones, perhaps.
    navigator.serviceWorker.addEventListener('controllerchange', () => location.reload())
  }
}
