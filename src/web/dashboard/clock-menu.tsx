import { computed, useSignal } from '@preact/signals'
import { readLogin } from '../../domain/login-tokens.js'
import { DAY_MS, formatDuration, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../domain/time.js'
import { clientOf } from '../../exchanges/client-name.js'
import { countdownText, timeText, zone } from '../format.js'
import { Field, Form, Menu } from '../ui.js'
import { call, moveClock } from './actions.js'
import { retryAt } from './explain-exchange.js'
import { ActionButton } from './fields.js'
import { banLeft, windowAt } from './quota-now.js'
import { clock, events, exchanges, operations, showZone, spaceTime, state } from './state.js'
import { countText, dateText, instantText, wholeSecond } from './texts.js'

/** As shown, as spoken, in milliseconds. */
const STEPS = [
  ['+1 s', '1 second', SECOND_MS],
  ['+1 m', '1 minute', MINUTE_MS],
  ['+1 h', '1 hour', HOUR_MS],
  ['+1 d', '1 day', DAY_MS],
] as const

export function ClockMenu() {
  const now = spaceTime.value ?? 0
  const isFrozen = clock.value?.frozen ?? false
  const otherZone = zone.value === 'UTC' ? 'local' : 'UTC'
  const label = (
    <>
      <span class="wide-only">Move </span>clock…
    </>
  )
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
      <Menu id="move-clock" label={label} title="Move the clock (t)">
        <Moves />
      </Menu>
    </div>
  )
}

function Moves() {
  const now = spaceTime.value ?? 0
  const isFrozen = clock.value?.frozen ?? false
  /** The button whose effects are shown, and milliseconds from now to its instant. */
  const shown = useSignal<readonly [name: string, move: number]>(['+1 h', HOUR_MS])
  const shows = (name: string, move: number) => {
    const show = () => (shown.value = [name, move])
    return { onPointerEnter: show, onFocusIn: show }
  }
  const [name, by] = shown.value
  const effects = effectsOf(now, now + by)
  const freeze = isFrozen ? 'Resume' : 'Freeze'
  return (
    <>
      <div class="row">
        {STEPS.map(([text, spoken, move]) => (
          <ActionButton
            key={move}
            class={text === name ? 'primary' : ''}
            label={`${text}: move the clock by ${spoken}`}
            act={() => {
              const done = doneText(`The clock has moved by ${spoken}`, effectsOf(now, now + move))
              return call('clock.advance', { by: formatDuration(move) }, done)
            }}
            {...shows(text, move)}
          >
            {text}
          </ActionButton>
        ))}
      </div>
      {clockTargets(now).map(([name, at]) => (
        <ActionButton key={name} class="between" act={() => goToInstant(name, at)} {...shows(`To ${name}`, at - now)}>
          To {name}{' '}
          <span class="muted">
            {instantText(at, now)} · in {countdownText(at - now)}
          </span>
        </ActionButton>
      ))}
      <Form label="Clock" class="row" send={(field) => moveClock({ now: `${field('instant')}Z` })}>
        <Field aria-label="Date and time, UTC" name="instant" type="datetime-local" step="1" required />
        <button type="submit">Set, UTC</button>
      </Form>
      <ActionButton act={() => moveClock({ frozen: !isFrozen })} {...shows(freeze, 0)}>
        {freeze}
      </ActionButton>
      <ActionButton
        act={() => moveClock('real')}
        {...shows('Real time', performance.timeOrigin + performance.now() - now)}
      >
        Real time
      </ActionButton>
      {/* Last, so that it moves nothing under the pointer. */}
      <ul aria-label="What the move changes">
        <li class="muted">
          {name}: {instantText(wholeSecond(now + by), now)}
        </li>
        {by < 0 ? <li class="muted">Goes back: what has ended since may be in force again.</li> : null}
        {by >= 0 && effects.length === 0 ? <li class="muted">Ends and refills nothing.</li> : null}
        {effects.map(([verb, what]) => (
          <li key={verb}>
            <b>{verb}</b> {what.join(', ')}
          </li>
        ))}
      </ul>
    </>
  )
}

export function goToInstant(name: string, at: number): Promise<unknown> {
  const effects = effectsOf(spaceTime.value ?? 0, at)
  return moveClock({ now: new Date(at).toISOString() }, doneText(`The clock has moved to ${name}`, effects))
}

type Effects = readonly (readonly [verb: 'ends' | 'refills' | 'removes', what: readonly string[]])[]

/** What a move of the clock changes. */
function effectsOf(now: number, to: number): Effects {
  const { keys = [], active = [] } = state.value ?? {}
  const isWithin = (at: number) => at > now && at <= to
  const bans = keys.filter((key) => banLeft(key, now) > 0 && isWithin(now + banLeft(key, now)))
  const storms = active.filter(({ what, until }) => what === 'storm' && isWithin(Date.parse(until ?? '')))
  const waiting = new Set(exchanges.value.filter((exchange) => isWithin(retryAt(exchange) ?? 0)).map(clientOf)).size
  const refills = keys.flatMap(({ key, minute, day }) =>
    [minute, day].flatMap((window, index) => {
      if (window === null || window.reset === null || !isWithin(Date.parse(window.reset))) return []
      const { remaining, limit } = windowAt(window, now)
      return remaining === limit ? [] : [`${key} ${remaining} → ${limit} a ${index === 0 ? 'minute' : 'day'}`]
    }),
  )
  const over = loginEnds.value.filter(isWithin).length
  const ends = [
    ...bans.map((key) => `the ban of ${key.key} (${countdownText(banLeft(key, now))} left)`),
    ...storms.map(({ text, until }) => `${text} (${leftText(until, now)} left)`),
    ...(waiting === 0 ? [] : [`the waits of ${countText(waiting, 'client')}`]),
    ...(over === 0 ? [] : [countText(over, 'login')]),
  ]
  const removed = removals().flatMap(({ id, sunset }) => (isWithin(Date.parse(sunset ?? '')) ? [id] : []))
  return ([['ends', ends] as const, ['refills', refills] as const, ['removes', removed] as const] as const).filter(
    ([, what]) => what.length > 0,
  )
}

/** Operations, unless a setting removes or keeps all deprecated ones whatever the time. */
const removals = () => (/before|after/.test(state.value?.settings.sunset ?? '') ? [] : operations.value)

const TOKEN = /\b(?:sandbox-login-|eyJ)[\w.-]+/g

/** When the tokens end that the log has and that no verb has ended, in milliseconds. */
const loginEnds = computed((): readonly number[] => {
  const expired = events.value.find(({ verb }) => verb === 'logins.expire')?.afterId ?? 0
  const tokens = exchanges.value
    .filter(({ id }) => id > expired)
    .flatMap(({ response: { headers, body } }) => `${headers['set-cookie']} ${body}`.match(TOKEN) ?? [])
  return [...new Set(tokens)].flatMap((token) => {
    const end = Number(readLogin(token)?.expiresAt) * SECOND_MS
    return end > 0 ? [end] : []
  })
})

function doneText(done: string, effects: Effects): string {
  return [done, ...effects.map(([verb, what]) => `${verb} ${what.join(', ')}`)].join('; ').concat('.')
}

/** Instants at which responses change. @param now milliseconds */
export function clockTargets(now: number): readonly (readonly [name: string, at: number])[] {
  const keys = state.value?.keys ?? []
  const first = (instants: readonly number[]) => Math.min(...instants.filter((at) => at > now))
  const next = (resets: readonly (string | null | undefined)[]) => first(resets.map((reset) => Date.parse(reset ?? '')))
  const bans = keys.filter((key) => banLeft(key, now) > 0)
  const targets: readonly (readonly [string, number])[] = [
    ['the next quota reset', next(keys.map(({ minute }) => minute?.reset))],
    ['the next reset of a day', next(keys.map(({ day }) => day?.reset))],
    ['the end of a login', first(loginEnds.value)],
    ...bans.map((key) => [`the end of the ban of ${key.key}`, now + banLeft(key, now)] as const),
    ...removals().map(({ id, sunset }) => [`the sunset of ${id}`, Date.parse(sunset ?? '')] as const),
  ]
  return targets.filter(([, at]) => at > now && at < Number.POSITIVE_INFINITY).sort(([, one], [, other]) => one - other)
}

export function leftText(until: string | null, now: number): string {
  return until === null ? '' : countdownText(Date.parse(until) - now)
}
