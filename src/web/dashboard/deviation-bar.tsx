import type { DeviationView } from '../../control/views.js'
import { countdownText } from './clock-text.js'
import { ActionError } from './controls.js'
import type { Tab } from './page-address.js'
import { useDashboard, useSession } from './session-context.js'
import { useAction } from './use-action.js'
import { useSpaceTime } from './use-space-time.js'

/** Where the control of each kind is. */
const PLACES: Readonly<Record<DeviationView['what'], readonly [tab: Tab | undefined, id: string]>> = {
  storm: ['break', 'storm'],
  faults: ['break', 'faults'],
  setting: ['break', 'limits'],
  clock: [undefined, 'clock'],
  ban: ['keys', 'keys'],
  plan: ['keys', 'keys'],
}

/** What is bent right now; nothing where everything is as it began. */
export function DeviationBar() {
  const session = useSession()
  const all = useDashboard(({ state }) => state?.deviations)
  const now = useSpaceTime() ?? 0
  const action = useAction()
  const deviations = all?.filter(({ until }) => until === null || Date.parse(until) > now) ?? []
  if (deviations.length === 0) return null
  return (
    <section class="bent" aria-label="What is bent right now">
      <ul>
        {deviations.map((deviation) => {
          const { what, name, text, until } = deviation
          return (
            <li key={`${what} ${name}`}>
              <button type="button" class="plain" onClick={() => goTo(deviation)}>
                {text}
                {until === null ? '' : ` · ${countdownText(Date.parse(until) - now)} left`}
              </button>
              <button
                type="button"
                class="close"
                aria-label={`Undo ${text}`}
                onClick={() =>
                  action.run(() =>
                    session.call('deviations.clear', name === null ? { what } : { what, name }, `Undone: ${text}.`),
                  )
                }
              >
                ×
              </button>
            </li>
          )
        })}
      </ul>
      <ActionError action={action} />
      <button
        type="button"
        onClick={() => action.run(() => session.call('deviations.clear', {}, 'All is as it began.'))}
      >
        All normal
      </button>
    </section>
  )

  function goTo({ what }: DeviationView) {
    const [tab, id] = PLACES[what]
    if (tab !== undefined) return session.showTab(tab, id)
    document.getElementById(id)?.querySelector('button')?.focus()
  }
}
