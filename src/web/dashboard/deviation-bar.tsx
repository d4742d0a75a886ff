import type { DeviationView, UpstreamView } from '../../control/views.js'
import { countdownText, dayText, timeText } from './clock-text.js'
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
  const upstream = useDashboard(({ state }) => state?.upstream ?? null)
  if (deviations.length === 0 && upstream === null) return null
  return (
    <section class={deviations.length === 0 ? 'bent calm' : 'bent'} aria-label="What is bent right now">
      <ul>
        {upstream === null ? null : <Upstream upstream={upstream} now={now} />}
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
      {deviations.length === 0 ? null : (
        <button
          type="button"
          onClick={() => action.run(() => session.call('deviations.clear', {}, 'All is as it began.'))}
        >
          All normal
        </button>
      )}
    </section>
  )

  function goTo({ what }: DeviationView) {
    const [tab, id] = PLACES[what]
    if (tab !== undefined) return session.showTab(tab, id)
    document.getElementById(id)?.querySelector('button')?.focus()
  }
}

/** The real service behind the sandbox, as it was when it was asked last; leads to how it drifts. */
function Upstream({
  upstream: { baseUrl, is, code, since },
  now,
}: {
  readonly upstream: UpstreamView
  readonly now: number
}) {
  const session = useSession()
  const zone = useDashboard(({ zone }) => zone)
  const at = since === null ? undefined : Date.parse(since)
  const day = at === undefined || dayText(at, zone) === dayText(now, zone) ? '' : `${dayText(at, zone)} `
  const when = at === undefined ? '' : ` since ${day}${timeText(at, false, zone)}`
  return (
    <li class={`upstream ${is}`}>
      <button type="button" class="plain" title={baseUrl} onClick={() => session.showTab('conduct', 'drift')}>
        {is === 'unasked' ? 'upstream not asked yet' : `upstream ${is}${code === null ? '' : `: ${code}`}${when}`}
      </button>
    </li>
  )
}
