import type { StormView } from '../../control/views.js'
import { countdownText } from './clock-text.js'
import { ActionButton } from './controls.js'
import { Form } from './form.js'
import { stormAt } from './quota-now.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'
import { useSpaceTime } from './use-space-time.js'

/** Starts and stops a stretch of 429s that no quota explains. */
export function StormSection() {
  const session = useSession()
  const storm = useDashboard(({ state }) => state?.storm ?? null)
  return (
    <Section id="storm" title="Storm" aside={storm === null ? 'calm' : <StormNow storm={storm} />}>
      <Form
        label="Storm"
        keeps
        send={(field) => {
          const input = { for: field('for'), every: field('every'), retryAfter: field('retryAfter') }
          const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
          const rate = Number(field('percent') ?? '100') / 100
          return session.call('storm.start', { rate, ...given }, 'A storm has started.')
        }}
      >
        <label>
          Refused, %
          <input name="percent" type="number" min="0" max="100" step="any" defaultValue="100" required />
        </label>
        <label>
          For
          <input name="for" placeholder="until stopped" defaultValue="30s" autocomplete="off" />
        </label>
        <label>
          Every
          <input name="every" placeholder="once" autocomplete="off" />
        </label>
        <label>
          Retry-After
          <input name="retryAfter" placeholder="1s" autocomplete="off" />
        </label>
        <button type="submit" class="primary">
          {storm === null ? 'Start storm' : 'Restart storm'}
        </button>
        {storm === null ? null : (
          <ActionButton act={() => session.call('storm.stop', {}, 'The storm is stopped.')}>Stop storm</ActionButton>
        )}
      </Form>
    </Section>
  )
}

function StormNow({ storm }: { readonly storm: StormView }) {
  const { kind, changesIn } = stormAt(storm, useSpaceTime() ?? 0)
  const percent = `${Number((storm.rate * 100).toFixed(2))} %`
  if (kind === 'over') return <>over</>
  const left = changesIn === undefined ? '' : `, ${countdownText(changesIn)} left`
  return kind === 'blows' ? (
    <span class="tag limited">
      refuses {percent}
      {left}
    </span>
  ) : (
    <span class="tag">pauses{left}</span>
  )
}
