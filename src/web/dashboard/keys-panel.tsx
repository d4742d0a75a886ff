import type { KeyView } from '../../control/views.js'
import type { DurationText } from '../../domain/time.js'
import { countdownText } from '../format.js'
import { Field, Form } from '../ui.js'
import { call, changePlan, unban } from './actions.js'
import { ActionButton, SavedField, Section } from './fields.js'
import { banLeft, minuteAt, type WindowNow, windowAt } from './quota-now.js'
import { spaceTime, state } from './state.js'

export function KeysPanel() {
  const keys = state.value?.keys ?? []
  const plans = state.value?.plans ?? []
  const failing = keys.filter(({ always }) => always !== null)
  const usable = keys.filter(({ always }) => always === null)
  return (
    <Section id="keys" title="Keys" aside={usable.length}>
      <ul class="rules">
        {usable.map((view) => (
          <KeyRow key={view.key} view={view} />
        ))}
      </ul>
      {failing.length === 0 ? null : (
        <p class="muted">Always refused: {failing.map(({ key, always }) => `${key} (${always})`).join(', ')}.</p>
      )}
      <Form
        label="Add a key"
        send={(field) => {
          const [key, plan] = [field('key') ?? '', field('plan')]
          return call('keys.add', plan === undefined ? { key } : { key, plan }, `The key ${key} is added.`)
        }}
      >
        <Field label="New key" name="key" required />
        {plans.length === 0 ? null : <Field label="Plan" name="plan" choices={plans} />}
        <button type="submit">Add key</button>
      </Form>
    </Section>
  )
}

function KeyRow({ view }: { readonly view: KeyView }) {
  const now = spaceTime.value ?? 0
  const { key, plan } = view
  const left = banLeft(view, now)
  const minute = minuteAt(view, now)
  const usual = state.value?.settings.banDuration ?? ''
  return (
    <li class="keyrow" id={`key-${key}`} data-key={key}>
      <div class="row">
        <strong class="mono name grow" title={key}>
          {key}
        </strong>
        <span class="error">{left > 0 ? `Banned, ${countdownText(left)} left` : ''}</span>
        <span class="row end">
          {left > 0 ? (
            <ActionButton key="lift" label={`Lift ban of ${key}`} act={() => unban(key)}>
              Lift
            </ActionButton>
          ) : (
            <Form
              class="row"
              send={(field) =>
                call('keys.ban', { key, for: (field('for') ?? usual) as DurationText }, `${key} is banned.`)
              }
            >
              <button type="submit" aria-label={`Ban ${key}`}>
                Ban
              </button>
              for
              <Field name="for" size={4} placeholder={usual} aria-label={`Time of the ban of ${key}`} />
            </Form>
          )}
          <ActionButton label={`Remove ${key}`} act={() => call('keys.remove', { key }, `${key} is removed.`)}>
            ×
          </ActionButton>
        </span>
      </div>
      <div class="fields">
        {plan === null ? null : (
          <SavedField
            aria-label={`Plan of ${key}`}
            value={plan}
            choices={state.value?.plans ?? []}
            save={(chosen) => changePlan(key, chosen)}
          />
        )}
        {minute === undefined ? null : <Gauge name="minute" of={key} {...minute} />}
        {view.day === null ? null : <Gauge name="day" of={key} {...windowAt(view.day, now)} />}
      </div>
    </li>
  )
}

/** `12 of 60 a minute, resets in 0:42` */
function Gauge({ name, of, limit, remaining, leftMs }: WindowNow & { readonly name: string; readonly of: string }) {
  return (
    <span class={remaining === 0 ? 'error' : 'muted'} data-gauge={`${of}, ${name}`}>
      {remaining.toLocaleString('en')} of {limit.toLocaleString('en')} a {name}
      {leftMs > 0 ? `, resets in ${countdownText(leftMs)}` : ''}
    </span>
  )
}
