import { countdownText, timeText, zone } from '../format.js'
import { Field, Form, Menu } from '../ui.js'
import { ActionButton } from './fields.js'
import { banLeft } from './quota-now.js'
import { advanceClock, moveClock } from './session.js'
import { clock, operations, showZone, spaceTime, state } from './state.js'
import { dateText, instantText } from './texts.js'

/** As shown, as sent, as spoken. */
const STEPS = [
  ['+1 s', '1s', '1 second'],
  ['+1 m', '1m', '1 minute'],
  ['+1 h', '1h', '1 hour'],
  ['+1 d', '24h', '1 day'],
] as const

export function ClockMenu() {
  const now = spaceTime.value ?? 0
  const isFrozen = clock.value?.frozen ?? false
  const otherZone = zone.value === 'UTC' ? 'local' : 'UTC'
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="row push" id="clock" role="group" aria-label="Clock">
      <button type="button" class="plain" title={`Show ${otherZone} time`} onClick={() => showZone(otherZone)}>
        <time class={isFrozen ? 'face frozen' : 'face'} dateTime={new Date(now).toISOString()}>
          <span>{dateText(now)}</span> <strong>{timeText(now)}</strong>{' '}
          <span>
            {zone}
            {isFrozen ? ', frozen' : ''}
          </span>
        </time>
        <span class="hidden"> Show {otherZone} time</span>
      </button>
      <Menu
        id="move-clock"
        label={
          <>
            <span class="wide-only">Move </span>clock…
          </>
        }
        title="Move the clock (t)"
      >
        <div class="row">
          {STEPS.map(([text, by, spoken]) => (
            <ActionButton key={by} label={`${text}: move the clock by ${spoken}`} act={() => advanceClock(by, spoken)}>
              {text}
            </ActionButton>
          ))}
        </div>
        {clockTargets(now).map(([name, at]) => (
          <ActionButton key={name} act={() => moveClock({ now: new Date(at).toISOString() })}>
            To {name} <span class="muted">{instantText(at, now)}</span>
          </ActionButton>
        ))}
        <Form label="Clock" class="row" send={(field) => moveClock({ now: `${field('instant')}Z` })}>
          <Field aria-label="Date and time, UTC" name="instant" type="datetime-local" step="1" required />
          <button type="submit">Set, UTC</button>
        </Form>
        <ActionButton act={() => moveClock({ frozen: !isFrozen })}>{isFrozen ? 'Resume' : 'Freeze'}</ActionButton>
        <ActionButton act={() => moveClock('real')}>Real time</ActionButton>
      </Menu>
    </div>
  )
}

/** Instants at which responses change. @param now milliseconds */
export function clockTargets(now: number): readonly (readonly [name: string, at: number])[] {
  const keys = state.value?.keys ?? []
  const resets = keys.flatMap(({ minute }) => (minute?.reset ? [Date.parse(minute.reset)] : []))
  const bans = keys.filter((key) => banLeft(key, now) > 0)
  const targets: readonly (readonly [string, number])[] = [
    ['the next quota reset', resets.toSorted().find((at) => at > now) ?? 0],
    ...bans.map((key) => [`the end of the ban of ${key.key}`, now + banLeft(key, now)] as const),
    ...operations.value.map(({ id, sunset }) => [`the sunset of ${id}`, Date.parse(sunset ?? '')] as const),
  ]
  return targets.filter(([, at]) => at > now)
}

export function leftText(until: string | null, now: number): string {
  return until === null ? '' : countdownText(Date.parse(until) - now)
}
