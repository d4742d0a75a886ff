import { useId, useRef } from 'preact/hooks'
import { useDashboard, useSession } from './session-context.js'

const ANOTHER = '\n'

/** Chooses the space that the page shows, or opens another. */
export function SpaceChooser() {
  const session = useSession()
  const space = useDashboard(({ space }) => space)
  const spaces = useDashboard(({ spaces }) => spaces)
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const names = [...new Set(['', ...spaces.map(({ name }) => name), space])]
  return (
    <div class="fact">
      <label for={id}>Space</label>
      <select
        id={id}
        value={space}
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== ANOTHER) return session.showSpace(currentTarget.value)
          currentTarget.value = space
          dialog.current?.showModal()
        }}
      >
        {names.map((name) => (
          <option key={name} value={name}>
            {name === '' ? 'default' : name}
          </option>
        ))}
        <option value={ANOTHER}>open another…</option>
      </select>
      <dialog ref={dialog} aria-label="Open a space">
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const name = new FormData(event.currentTarget).get('name')
            dialog.current?.close()
            if (typeof name === 'string') void session.openSpace(name)
          }}
        >
          <label class="stacked">
            Name of the space
            <input name="name" required pattern="[A-Za-z0-9._\-]{1,64}" title="1 to 64 of A-Z a-z 0-9 . _ -" />
          </label>
          <p class="muted">Any key with ~name appended works in it: own pets, quotas, clock and log.</p>
          <div class="row end">
            <button type="button" onClick={() => dialog.current?.close()}>
              Cancel
            </button>
            <button type="submit" class="primary">
              Open
            </button>
          </div>
        </form>
      </dialog>
    </div>
  )
}
