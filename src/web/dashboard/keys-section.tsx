import { AddKeyForm } from './add-key-form.js'
import { KeyRow } from './key-row.js'
import { Section } from './section.js'
import { useDashboard } from './session-context.js'
import { useSpaceTime } from './use-space-time.js'

/** Every key with both its windows, and its ban. */
export function KeysSection() {
  const keys = useDashboard(({ state }) => state?.keys)
  const now = useSpaceTime() ?? 0
  return (
    <Section id="keys" title="Keys" aside={keys?.length}>
      <ul class="keys">
        {keys?.map((view) => (
          <KeyRow key={view.key} view={view} now={now} />
        ))}
      </ul>
      <AddKeyForm />
    </Section>
  )
}
