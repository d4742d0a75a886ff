import { dateText, timeText } from './clock-text.js'
import { ActionError } from './controls.js'
import { useDashboard, useSession } from './session-context.js'
import { useAction, useOptimistic } from './use-action.js'
import { useSpaceTime } from './use-space-time.js'

/** Steps by which one click moves the clock, as shown and as spoken. */
const STEPS = [
  { text: '+1 s', by: '1s', spoken: '1 second' },
  { text: '+1 m', by: '1m', spoken: '1 minute' },
  { text: '+1 h', by: '1h', spoken: '1 hour' },
  { text: '+1 d', by: '24h', spoken: '1 day' },
] as const

/** The space's clock, and what moves it. */
export function ClockControls() {
  const session = useSession()
  const { shown: frozen, ask, action: freezing } = useOptimistic(useDashboard(({ clock }) => clock?.frozen ?? false))
  const action = useAction()
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="clock" id="clock" role="group" aria-label="Clock">
      <ClockFace />
      <div class="buttons">
        {STEPS.map(({ text, by, spoken }) => (
          <button
            type="button"
            key={by}
            aria-label={`${text}: move the clock by ${spoken}`}
            onClick={() => action.run(() => session.call('clock.advance', { by }, `The clock has moved by ${spoken}.`))}
          >
            {text}
          </button>
        ))}
        <button
          type="button"
          onClick={() =>
            ask(!frozen, () =>
              session.call('clock.set', { frozen: !frozen }, frozen ? 'The clock is running.' : 'The clock is frozen.'),
            )
          }
        >
          {frozen ? 'Resume' : 'Freeze'}
        </button>
        <button
          type="button"
          title="Back to real time"
          onClick={() => action.run(() => session.call('clock.reset', {}, 'The clock shows real time.'))}
        >
          Real time
        </button>
        <ZoneButton />
      </div>
      <ActionError action={action} />
      <ActionError action={freezing} />
    </div>
  )
}

function ZoneButton() {
  const session = useSession()
  const zone = useDashboard(({ zone }) => zone)
  const other = zone === 'UTC' ? 'local' : 'UTC'
  return (
    <button
      type="button"
      aria-label={`Show ${other} time`}
      title={`Show ${other} time`}
      onClick={() => session.showZone(other)}
    >
      {other}
    </button>
  )
}

function ClockFace() {
  const now = useSpaceTime()
  const zone = useDashboard(({ zone }) => zone)
  const frozen = useDashboard(({ clock }) => clock?.frozen ?? false)
  return (
    <time class={frozen ? 'face frozen' : 'face'} dateTime={now === undefined ? '' : new Date(now).toISOString()}>
      <strong>{now === undefined ? '--:--:--' : timeText(now, false, zone)}</strong>
      <span>
        {now === undefined ? '' : dateText(now, zone)} {zone === 'UTC' ? 'UTC' : 'local'}
        {frozen ? ', frozen' : ''}
      </span>
    </time>
  )
}
