import { ActionButton } from './controls.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** The packaged bundles of switches, each a click away; all other switches stay as they are. */
export function ScenariosSection() {
  const session = useSession()
  const scenarios = useDashboard(({ scenarios }) => scenarios)
  if (scenarios.length === 0) return null
  return (
    <Section id="scenarios" title="Scenarios">
      <ul class="tiles">
        {scenarios.map(({ name, description }) => (
          <li key={name}>
            <ActionButton
              label={`Apply ${name}`}
              act={() => session.call('scenario.apply', { scenario: { name } }, `The scenario ${name} is set.`)}
            >
              {name}
            </ActionButton>
            <span class="muted">{description}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
