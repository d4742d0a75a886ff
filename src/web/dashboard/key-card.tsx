import type { KeyView } from '../../control/views.js'
import { PLAN_NAMES } from '../../domain/keys.js'
import type { Exchange } from '../../exchanges/exchange-view.js'
import { countdownText } from './clock-text.js'
import { ConfirmButton } from './confirm-button.js'
import { ActionButton, ActionError } from './controls.js'
import { Gauge } from './gauge.js'
import { outcomeOf } from './outcome.js'
import { banLeft, minuteAt, windowAt } from './quota-now.js'
import { useSession } from './session-context.js'
import { useAction } from './use-action.js'

/** One key: plan, both windows, ban, and its last response. */
export function KeyCard({
  view,
  now,
  last,
}: {
  readonly view: KeyView
  /** By the space's clock. */
  readonly now: number
  readonly last: Exchange | undefined
}) {
  const session = useSession()
  const { key, plan, always } = view
  const banned = banLeft(view, now)
  return (
    <li class={banned > 0 || always === 'banned' ? 'keycard banned' : 'keycard'} data-key={key}>
      <div class="row">
        <strong class="mono name">{key}</strong>
        {always === null ? <PlanChoice name={key} plan={plan} /> : <span class="tag">always {always}</span>}
        {banned > 0 ? (
          <ActionButton
            label={`Lift ban of ${key}`}
            act={() => session.call('keys.unban', { key }, `${key} is no longer banned.`)}
          >
            Lift ban
          </ActionButton>
        ) : null}
        {banned === 0 && always === null ? (
          <ActionButton label={`Ban ${key}`} act={() => session.call('keys.ban', { key }, `${key} is banned.`)}>
            Ban
          </ActionButton>
        ) : null}
        <ConfirmButton
          label={`Remove ${key}`}
          question={`Remove the key ${key}? Requests with it will get 401.`}
          act={() => session.call('keys.remove', { key }, `${key} is removed.`)}
        >
          Remove
        </ConfirmButton>
      </div>
      <Gauge name="minute" of={key} {...minuteAt(view, now)} />
      <Gauge name="day" of={key} {...windowAt(view.day, now)} />
      {last === undefined && banned === 0 ? null : (
        <div class="row between">
          {banned > 0 ? <span class="ban">Banned, {countdownText(banned)} left</span> : null}
          {last === undefined ? null : (
            <span class="last">
              last response <span class={`status ${outcomeOf(last)}`}>{last.status ?? 'cut'}</span> {last.reason ?? ''}
            </span>
          )}
        </div>
      )}
    </li>
  )
}

function PlanChoice({ name, plan }: { readonly name: string; readonly plan: KeyView['plan'] }) {
  const session = useSession()
  const action = useAction()
  return (
    <>
      <select
        aria-label={`Plan of ${name}`}
        value={plan}
        onChange={({ currentTarget: { selectedIndex } }) => {
          const chosen = PLAN_NAMES[selectedIndex] ?? plan
          return action.run(() =>
            session.call('keys.change', { key: name, plan: chosen }, `${name} is on the plan ${chosen}.`),
          )
        }}
      >
        {PLAN_NAMES.map((planName) => (
          <option key={planName}>{planName}</option>
        ))}
      </select>
      <ActionError action={action} />
    </>
  )
}
