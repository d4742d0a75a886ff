import { signal } from '@preact/signals'
import { render } from 'preact'
import { messageOf } from '../format.js'
import { start } from '../session.js'
import { ClientPanel, ConductPanel } from './client-panel.js'
import { refresh } from './shop-client.js'
import { ShopPanel } from './shop-panel.js'
import { send, startWorker } from './start-worker.js'
import { SwitchesPanel } from './switches-panel.js'
import type { Keeping } from './worker-messages.js'
import '../style/tokens.css'
import '../style/parts.css'
import './style.css'

const PHASES = {
  starting: 'starting in this browser …',
  running: 'runs in this browser, also offline',
  failed: 'cannot run here',
} as const

const phase = signal<keyof typeof PHASES>('starting')
const failure = signal('')
const notice = signal<string | undefined>(undefined)
const newer = signal<ServiceWorker | null>(null)

function Playground() {
  return (
    <>
      <header class="top">
        <div>
          <h1>petstore-sandbox playground</h1>
          <p class={`phase ${phase}`} role="status">
            {PHASES[phase.value]}
          </p>
        </div>
        <nav aria-label="The sandbox’s own pages">
          <a href="__sandbox/">Dashboard</a>
          <a href="__sandbox/docs">API docs</a>
        </nav>
        <p class="install">
          The same on your machine: <code>npx petstore-sandbox serve</code>
        </p>
      </header>
      {newer.value === null ? null : (
        <p class="notice" role="status">
          A newer version of the playground is ready. What the sandbox holds is kept.{' '}
          <button type="button" onClick={() => send(newer.value, 'take-over')}>
            Load it
          </button>
        </p>
      )}
      {notice.value === undefined ? null : (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      <main>
        {phase.value === 'failed' ? (
          <p class="notice" role="alert">
            {failure}
          </p>
        ) : (
          <div class="panels">
            <ShopPanel />
            <div class="column">
              <ClientPanel />
              <ConductPanel />
            </div>
            <SwitchesPanel />
          </div>
        )}
      </main>
    </>
  )
}

async function startSandbox(): Promise<void> {
  try {
    watch(await startWorker())
  } catch (error) {
    phase.value = 'failed'
    failure.value = messageOf(error)
    return
  }
  phase.value = 'running'
  start()
  await refresh()
}

function watch(registration: ServiceWorkerRegistration): void {
  const look = () => {
    newer.value = registration.waiting
  }
  registration.addEventListener('updatefound', () => registration.installing?.addEventListener('statechange', look))
  look()
  navigator.serviceWorker.addEventListener('message', ({ data }: MessageEvent<Keeping>) => {
    notice.value = data.notice
  })
  send(registration.active, 'keeping')
  // The new worker may have other pages.
  navigator.serviceWorker.addEventListener('controllerchange', () => location.reload())
}

const root = document.querySelector('#playground')
if (root !== null) {
  render(<Playground />, root)
  void startSandbox()
}
