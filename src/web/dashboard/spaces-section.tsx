import { useState } from 'preact/hooks'
import { ActionButton } from './controls.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** The others are found by their names. */
const MOST_SHOWN = 50

/** The open spaces other than the default one. */
export function SpacesSection() {
  const session = useSession()
  const spaces = useDashboard(({ spaces }) => spaces)
  const shown = useDashboard(({ space }) => space)
  const [wanted, setWanted] = useState('')
  const found = spaces.filter(({ name }) => name.includes(wanted))
  return (
    <Section id="spaces" title="Spaces" aside={spaces.length === 0 ? 'only the default one' : spaces.length}>
      {spaces.length === 0 ? (
        <p class="muted">
          Any key with ~name appended, such as <span class="mono">sandbox~checkout</span>, opens a space: own pets,
          quotas, clock and log.
        </p>
      ) : (
        <>
          {spaces.length > MOST_SHOWN ? (
            <label class="stacked">
              Name
              <input value={wanted} onInput={({ currentTarget }) => setWanted(currentTarget.value)} />
            </label>
          ) : null}
          <ul class="rules">
            {found.slice(0, MOST_SHOWN).map(({ name, pets, requests }) => (
              <li key={name} class="row between">
                <span class="mono grow">{name}</span>
                <span class="muted">
                  {pets} pets, {requests} requests
                </span>
                {name === shown ? (
                  <span class="tag">shown</span>
                ) : (
                  <button type="button" aria-label={`Show the space ${name}`} onClick={() => session.showSpace(name)}>
                    Show
                  </button>
                )}
                <ActionButton label={`Remove the space ${name}`} act={() => session.removeSpace(name)}>
                  Remove
                </ActionButton>
              </li>
            ))}
          </ul>
          {found.length > MOST_SHOWN ? <p class="muted">And {found.length - MOST_SHOWN} more.</p> : null}
        </>
      )}
    </Section>
  )
}
