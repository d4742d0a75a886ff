import { ConfirmButton } from './confirm-button.js'
import { ActionButton } from './controls.js'
import { Form } from './form.js'
import { Section } from './section.js'
import { useDashboard, useSession } from './session-context.js'

/** Everything of the space, kept under names. */
export function SnapshotsSection() {
  const session = useSession()
  const snapshots = useDashboard(({ snapshots }) => snapshots)
  return (
    <Section id="snapshots" title="Snapshots" aside={snapshots.length === 0 ? 'none' : snapshots.length}>
      {snapshots.length === 0 ? null : (
        <ul class="rules">
          {snapshots.map((name) => (
            <li key={name} class="row between">
              <span class="mono grow">{name}</span>
              <ActionButton
                label={`Restore ${name}`}
                act={() => session.call('snapshots.restore', { name }, `The space is as in ${name}.`)}
              >
                Restore
              </ActionButton>
              <ConfirmButton
                label={`Remove ${name}`}
                question={`Remove the snapshot ${name}?`}
                act={() => session.call('snapshots.remove', { name }, `The snapshot ${name} is removed.`)}
              >
                Remove
              </ConfirmButton>
            </li>
          ))}
        </ul>
      )}
      <Form
        label="Save a snapshot"
        send={(field) => {
          const name = field('name') ?? ''
          return session.call('snapshots.save', { name }, `Saved as ${name}.`)
        }}
      >
        <label class="grow">
          Name
          <input name="name" required autocomplete="off" spellcheck={false} />
        </label>
        <button type="submit">Save snapshot</button>
      </Form>
    </Section>
  )
}
