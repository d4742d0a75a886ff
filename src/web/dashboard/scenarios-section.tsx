import { useState } from 'preact/hooks'
import { Form } from './form.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** The packaged bundles of switches. */
export function ScenariosSection() {
  const session = useSession()
  const scenarios = useDashboard(({ scenarios }) => scenarios)
  const [chosen, choose] = useState<string>()
  const shown = scenarios.find(({ name }) => name === chosen) ?? scenarios[0]
  if (shown === undefined) return null
  return (
    <Section id="scenarios" title="Scenarios">
      <Form
        label="Scenario"
        keeps
        send={() =>
          session.call('scenario.apply', { scenario: { name: shown.name } }, `The scenario ${shown.name} is set.`)
        }
      >
        <label class="grow">
          Scenario
          <select value={shown.name} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {scenarios.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <button type="submit">Apply</button>
      </Form>
      <p class="muted">{shown.description}. All other switches stay as they are.</p>
    </Section>
  )
}
