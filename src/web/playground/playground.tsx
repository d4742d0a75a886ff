import { useStore } from '../dashboard/store.js'
import { ClientPanel } from './client-panel.js'
import { ConductPanel } from './conduct-panel.js'
import type { SandboxView } from './sandbox-view.js'
import type { ShopClient } from './shop-client.js'
import { ShopPanel } from './shop-panel.js'
import type { SiteWorker } from './site-worker.js'
import { SwitchesPanel } from './switches-panel.js'

/** The whole page: a shop, its client, the service's moods, and how the client behaves. */
export function Playground({
  worker,
  view,
  client,
}: {
  readonly worker: SiteWorker
  readonly view: SandboxView
  readonly client: ShopClient
}) {
  const { phase, error } = useStore(worker.store, (state) => state)
  return (
    <>
      <Header worker={worker} />
      <main>
        {phase === 'failed' ? (
          <p class="notice" role="alert">
            {error}
          </p>
        ) : (
          <div class="panels">
            <ShopPanel client={client} view={view} />
            <div class="column">
              <ClientPanel client={client} view={view} />
              <ConductPanel view={view} />
            </div>
            <SwitchesPanel client={client} view={view} />
          </div>
        )}
      </main>
    </>
  )
}

function Header({ worker }: { readonly worker: SiteWorker }) {
  const { phase, keeping, isOutdated } = useStore(worker.store, (state) => state)
  return (
    <>
      <header class="top">
        <div>
          <h1>petstore-sandbox playground</h1>
          <p class={`phase ${phase}`} role="status">
            {PHASES[phase]}
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
      {isOutdated ? (
        <p class="notice" role="status">
          A newer version of the playground is ready. What the sandbox holds is kept.{' '}
          <button type="button" onClick={() => worker.update()}>
            Load it
          </button>
        </p>
      ) : null}
      {keeping?.notice === undefined ? null : (
        <p class="notice" role="status">
          {keeping.notice}
        </p>
      )}
    </>
  )
}

const PHASES = {
  starting: 'starting in this browser …',
  running: 'runs in this browser, offline too',
  failed: 'does not run here',
} as const
