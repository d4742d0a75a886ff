import type { KeyView } from '../../control/views.js'
import { PLAN_NAMES } from '../../domain/keys.js'
import { countdownText } from './clock-text.js'
import { ActionButton, ActionError } from './controls.js'
import { Gauge } from './gauge.js'
import { banLeft, minuteAt, windowAt } from './quota-now.js'
import { useSession } from './session-context.js'
import { useOptimistic } from './use-action.js'

/** One key in a row of fixed height: plan, both windows, how it is. */
export function KeyRow({
  view,
  now,
}: {
  readonly view: KeyView
  /** By the space's clock. */
  readonly now: number
}) {
  const session = useSession()
  const { key, plan, always } = view
  const left = banLeft(view, now)
  const isOut = left > 0 || always === 'banned' || always === 'revoked'
  const state = left > 0 ? `Banned, ${countdownText(left)} left` : always === null ? '' : `always ${always}`
  return (
    <li class={isOut ? 'keyrow out' : 'keyrow'} data-key={key}>
      <div class="line">
        <strong class="mono name" title={key}>
          {key}
        </strong>
        <span class="state">{state}</span>
        <span class="row end">
          {left > 0 ? (
            <ActionButton
              label={`Lift ban of ${key}`}
              act={() => session.call('keys.unban', { key }, `${key} is no longer banned.`)}
            >
              Lift
            </ActionButton>
          ) : always === null ? (
            <ActionButton label={`Ban ${key}`} act={() => session.call('keys.ban', { key }, `${key} is banned.`)}>
              Ban
            </ActionButton>
          ) : null}
          <ActionButton
            label={`Remove ${key}`}
            act={() => session.call('keys.remove', { key }, `${key} is removed: requests with it get 401.`)}
          >
            ×
          </ActionButton>
        </span>
      </div>
      <div class="meters">
        <PlanChoice name={key} plan={plan} isFixed={always !== null} />
        <Gauge name="minute" of={key} isOut={isOut} {...minuteAt(view, now)} />
        <Gauge name="day" of={key} isOut={isOut} {...windowAt(view.day, now)} />
      </div>
    </li>
  )
}

function PlanChoice({
  name,
  plan,
  isFixed,
}: {
  readonly name: string
  readonly plan: KeyView['plan']
  readonly isFixed: boolean
}) {
  const session = useSession()
  const { shown, ask, action } = useOptimistic(plan)
  return (
    <span>
      <select
        aria-label={`Plan of ${name}`}
        value={shown}
        disabled={isFixed}
        onChange={({ currentTarget: { selectedIndex } }) => {
          const chosen = PLAN_NAMES[selectedIndex] ?? plan
          ask(chosen, () =>
            session.call('keys.change', { key: name, plan: chosen }, `${name} is on the plan ${chosen}.`),
          )
        }}
      >
        {PLAN_NAMES.map((planName) => (
          <option key={planName}>{planName}</option>
        ))}
      </select>
      <ActionError action={action} />
    </span>
  )
}
