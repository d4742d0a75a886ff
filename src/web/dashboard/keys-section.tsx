import { AddKeyForm } from './add-key-form.js'
import { KeyCard } from './key-card.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'
import { useSpaceTime } from './use-space-time.js'

/** Every key with both its windows, and its ban. */
export function KeysSection() {
  const { exchanges } = useSession()
  const keys = useDashboard(({ state }) => state?.keys)
  useDashboard(({ revision }) => revision)
  const now = useSpaceTime() ?? 0
  const newest = exchanges.newestFirst()
  return (
    <Section id="keys" title="Keys" aside={keys?.length}>
      <ul class="keys">
        {keys?.map((view) => (
          <KeyCard key={view.key} view={view} now={now} last={newest.find(({ key }) => key === view.key)} />
        ))}
      </ul>
      <AddKeyForm />
    </Section>
  )
}
