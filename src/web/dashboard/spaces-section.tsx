import { ConfirmButton } from './confirm-button.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** The open spaces other than the default one. */
export function SpacesSection() {
  const session = useSession()
  const spaces = useDashboard(({ spaces }) => spaces)
  const shown = useDashboard(({ space }) => space)
  return (
    <Section id="spaces" title="Spaces" aside={spaces.length === 0 ? 'only the default one' : spaces.length}>
      {spaces.length === 0 ? (
        <p class="muted">
          Any key with ~name appended, such as <span class="mono">sandbox~checkout</span>, opens a space: own pets,
          quotas, clock and log.
        </p>
      ) : (
        <ul class="rules">
          {spaces.map(({ name, pets, requests }) => (
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
              <ConfirmButton
                label={`Remove the space ${name}`}
                question={`Remove the space ${name} with everything in it?`}
                act={() => session.removeSpace(name)}
              >
                Remove
              </ConfirmButton>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}
