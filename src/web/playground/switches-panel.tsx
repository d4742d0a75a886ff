import type { ComponentChildren } from 'preact'
import { parseDuration } from '../../domain/time.js'
import { countdownText, dateText, timeText } from '../dashboard/clock-text.js'
import { readLocalClock } from '../dashboard/local-clock.js'
import { useStore } from '../dashboard/store.js'
import type { SandboxView } from './sandbox-view.js'
import type { ShopClient } from './shop-client.js'
import { useTicks } from './use-ticks.js'

const STEPS = { '1m': '+1 min', '1h': '+1 h', '24h': '+1 d' } as const

/** What may befall a client of the service, at a click. */
export function SwitchesPanel({ client, view }: { readonly client: ShopClient; readonly view: SandboxView }) {
  const key = useStore(client.store, (state) => state.key)
  const error = useStore(view.store, (state) => state.error)
  return (
    <section class="panel" aria-labelledby="switches">
      <h2 id="switches">The service’s moods</h2>
      <Deviations view={view} />
      <Switch title="Storm" says="Seven of ten requests are refused for half a minute, quota or not.">
        <button type="button" onClick={() => view.call('storm.start', { rate: 0.7, for: '30s' })}>
          Start a storm
        </button>
      </Switch>
      <Switch title="Ban" says={`The key ${key} is refused for a minute.`}>
        <button type="button" onClick={() => view.call('keys.ban', { key, for: '1m' })}>
          Ban it
        </button>
      </Switch>
      <Switch title="Latency" says="Each answer takes 800 ms longer.">
        <button type="button" onClick={() => view.call('settings.change', { latency: '800ms' })}>
          Slow down
        </button>
      </Switch>
      <Switch title="Connection reset" says="Every third connection breaks before there is an answer.">
        <button type="button" onClick={() => view.call('faults.set', { rules: ['*:connection-reset@33%'] })}>
          Break connections
        </button>
      </Switch>
      <Switch title="Time" says="Quotas, bans and storms go by the sandbox’s clock; so do the waits of this client.">
        {Object.entries(STEPS).map(([by, label]) => (
          <button
            type="button"
            key={by}
            onClick={async () => {
              await view.call('clock.advance', { by })
              client.pauses.advance(parseDuration(by) ?? 0)
            }}
          >
            {label}
          </button>
        ))}
      </Switch>
      <p class="error" role="alert">
        {error}
      </p>
      <p class="muted">
        All the others are in the <a href="__sandbox/#tab=break">dashboard</a>, which shows each request with the reason
        of its answer.
      </p>
    </section>
  )
}

function Switch({
  title,
  says,
  children,
}: {
  readonly title: string
  readonly says: string
  readonly children: ComponentChildren
}) {
  return (
    <div class="switch-row">
      <div>
        <h3>{title}</h3>
        <p class="muted">{says}</p>
      </div>
      <div class="row">{children}</div>
    </div>
  )
}

/** What is not as it began, each with a way back; the clock. */
function Deviations({ view }: { readonly view: SandboxView }) {
  const clock = useStore(view.store, (state) => state.clock)
  const deviations = useStore(view.store, ({ state }) => state?.deviations) ?? []
  useTicks(clock !== undefined && !clock.frozen)
  const now = clock === undefined ? undefined : readLocalClock(clock, performance.now())
  return (
    <>
      <p class="clock">{now === undefined ? '…' : `${dateText(now)}, ${timeText(now)} UTC`}</p>
      {deviations.length === 0 ? (
        <p class="muted bent">All is as it began.</p>
      ) : (
        <ul class="bent" aria-label="What is not as it began">
          {deviations.map(({ what, name, text, until }) => (
            <li key={`${what} ${name}`}>
              {text}
              {until === null || now === undefined ? '' : ` · ${countdownText(Date.parse(until) - now)} left`}
              <button
                type="button"
                class="close"
                aria-label={`Undo ${text}`}
                onClick={() => view.call('deviations.clear', name === null ? { what } : { what, name })}
              >
                ×
              </button>
            </li>
          ))}
          <li class="all">
            <button type="button" onClick={() => view.call('deviations.clear')}>
              All normal
            </button>
          </li>
        </ul>
      )}
    </>
  )
}
