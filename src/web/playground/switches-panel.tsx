import { parseDuration } from '../../domain/time.js'
import { countdownText, dateText, timeText } from '../format.js'
import { call } from '../session.js'
import { spaceTime, state } from '../state.js'
import { ActionError, useAction } from '../ui.js'
import { advanceTime, key } from './shop-client.js'

type Button = readonly [text: string, act: () => Promise<unknown>]

export function SwitchesPanel() {
  const action = useAction()
  const rows: readonly (readonly [title: string, description: string, ...Button[]])[] = [
    [
      'Storm',
      'Refuses 70 % of all requests for 30 seconds, independent of quotas.',
      ['Start a storm', () => call('storm.start', { rate: 0.7, for: '30s' })],
    ],
    ['Ban', `Refuses the key ${key} for a minute.`, ['Ban it', () => call('keys.ban', { key: key.value, for: '1m' })]],
    ['Latency', 'Delays each response by 800 ms.', ['Slow down', () => call('settings.change', { latency: '800ms' })]],
    [
      'Connection reset',
      'Breaks one of three connections before the response.',
      ['Break connections', () => call('faults.set', { rules: ['*:connection-reset@33%'] })],
    ],
    [
      'Time',
      'Quotas, bans and storms use the sandbox’s clock, and so does this client.',
      ['+1 min', () => advance('1m')],
      ['+1 h', () => advance('1h')],
      ['+1 d', () => advance('24h')],
    ],
  ]
  return (
    <section class="panel" aria-labelledby="switches">
      <h2 id="switches">The service’s moods</h2>
      <Overrides run={action.run} />
      {rows.map(([title, description, ...buttons]) => (
        <div key={title} class="switch-row">
          <div>
            <h3>{title}</h3>
            <p class="muted">{description}</p>
          </div>
          <div class="row">
            {buttons.map(([text, act]) => (
              <button type="button" key={text} onClick={() => action.run(act)}>
                {text}
              </button>
            ))}
          </div>
        </div>
      ))}
      <ActionError action={action} />
      <p class="muted">
        All the others are in the <a href="__sandbox/#tab=break">dashboard</a>, which shows each request with the reason
        of its response.
      </p>
    </section>
  )
}

async function advance(by: '1m' | '1h' | '24h'): Promise<void> {
  await call('clock.advance', { by })
  advanceTime(parseDuration(by) ?? 0)
}

function Overrides({ run }: { run(act: () => Promise<unknown>): void }) {
  const now = spaceTime.value
  const overrides = state.value?.overrides ?? []
  return (
    <>
      <p class="clock">{now === undefined ? '…' : `${dateText(now)}, ${timeText(now)} UTC`}</p>
      {overrides.length === 0 ? (
        <p class="muted overrides">No overrides.</p>
      ) : (
        <ul class="overrides" aria-label="Overrides">
          {overrides.map(({ what, name, text, until }) => (
            <li key={`${what} ${name}`}>
              {text}
              {until === null || now === undefined ? '' : ` · ${countdownText(Date.parse(until) - now)} left`}
              <button
                type="button"
                class="close"
                aria-label={`Undo ${text}`}
                onClick={() => run(() => call('overrides.clear', name === null ? { what } : { what, name }))}
              >
                ×
              </button>
            </li>
          ))}
          <li class="all">
            <button type="button" onClick={() => run(() => call('overrides.clear', {}))}>
              All normal
            </button>
          </li>
        </ul>
      )}
    </>
  )
}
