import { signal } from '@preact/signals'
import { countdownText, messageOf, timeText } from '../format.js'
import { Shell, show } from '../shell.js'
import { Field } from '../ui.js'
import { Lane, Legend } from './lane.js'
import * as run from './run.js'
import { CONDITION_NAMES, CONDITIONS } from './set-up.js'
import { send, startWorker } from './start-worker.js'
import type { Keeping } from './worker-messages.js'
import '../shared.js'
import './style.css'

const MINUTE = 60_000

const notice = signal<string | undefined>(undefined)
const newer = signal<ServiceWorker | null>(null)
const shared = signal('')
const canRun = signal(true)

function Playground() {
  return (
    <>
      <Shell page="Playground" space={run.clients.value[0]?.space ?? ''}>
        <span class="row push">
          <button type="button" onClick={run.startOver}>
            Start over
          </button>
          <button type="button" onClick={share}>
            Share this set-up
          </button>
          <span role="status" class="muted">
            {shared}
          </span>
        </span>
      </Shell>
      <Notices />
      <main>
        <h1>Your client gets a 429. What does it do next?</h1>
        <p class="intro">
          Find out before production does. petstore-sandbox is a mock API for your machine and for CI. It has the
          quotas, bans and outages of a real one, and judges how your client retries. Run{' '}
          <code>npx petstore-sandbox serve</code>, or watch it in this tab: five clients list pets twice a second, and
          each may send 60 requests a minute.
        </p>
        {canRun.value ? (
          <>
            <Controls />
            <ol class="lanes">
              {run.clients.value.map((client) => (
                <Lane key={client.space} client={client} />
              ))}
            </ol>
            <Legend />
          </>
        ) : null}
      </main>
    </>
  )
}

function Notices() {
  return (
    <>
      {newer.value === null ? null : (
        <p class="notice" role="status">
          A newer version of the playground is ready.{' '}
          <button type="button" onClick={takeOver}>
            Load it
          </button>
        </p>
      )}
      {notice.value === undefined ? null : (
        <p class="notice" role="alert">
          {notice}
        </p>
      )}
      {run.problems.value.length === 0 ? null : (
        <p class="notice" role="alert">
          Part of the link was left out. {run.problems.value.join(' ')}
        </p>
      )}
    </>
  )
}

function Controls() {
  const { conditions } = run.setUp.value
  const phase = run.phase.value
  const runs = phase === 'running' || phase === 'starting'
  return (
    <div class="row controls">
      <button type="button" class="primary" onClick={runs ? run.pause : run.resume}>
        {runs ? 'Pause' : phase === 'paused' ? 'Run' : 'Run again'}
      </button>
      <fieldset class="row">
        <legend class="hidden">Conditions</legend>
        <button type="button" aria-pressed={conditions.length === 0} onClick={() => run.change({ conditions: [] })}>
          Quota only
        </button>
        {CONDITION_NAMES.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={conditions.includes(name)}
            title={CONDITIONS[name].title}
            onClick={() =>
              run.change({
                conditions: conditions.includes(name)
                  ? conditions.filter((other) => other !== name)
                  : [...conditions, name],
              })
            }
          >
            {CONDITIONS[name].label}
          </button>
        ))}
      </fieldset>
      <span class="clock push">
        <span class="muted">Sandbox time</span> {run.startedAt.value === 0 ? '…' : `${timeText(run.now.value)} UTC`}{' '}
        <span class="muted">
          · {countdownText(run.now.value - run.startedAt.value)} of {countdownText(run.RUN_MS)}
        </span>
      </span>
      <button type="button" disabled={phase === 'over'} onClick={() => run.advance(MINUTE)}>
        +1 min
      </button>
      <Field
        label="Speed"
        class="row"
        value={String(run.speed.value)}
        choices={run.SPEEDS.map((speed) => [String(speed), `${speed} ×`])}
        choose={(speed) => (run.speed.value = Number(speed))}
      />
      <p class="announcement" role="status">
        {run.announcement}
      </p>
    </div>
  )
}

async function takeOver(): Promise<void> {
  await run.stop()
  send(newer.value, 'take-over')
}

async function share(): Promise<void> {
  shared.value = await navigator.clipboard.writeText(location.href).then(
    () => 'Link copied.',
    () => 'Copy the address of this page.',
  )
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

show(<Playground />)
startWorker().then(
  (registration) => {
    watch(registration)
    addEventListener('hashchange', run.startFromLink)
    void run.startFromLink()
  },
  (error: unknown) => {
    canRun.value = false
    notice.value = messageOf(error)
  },
)
