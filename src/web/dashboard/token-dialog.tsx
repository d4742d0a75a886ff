import { useEffect, useRef, useState } from 'preact/hooks'
import { controlToken } from '../control-token.js'
import { useDashboard, useSession } from './session-context.js'

/** Asks for the control token while the sandbox requires one. */
export function TokenDialog() {
  const session = useSession()
  const isLocked = useDashboard(({ connection }) => connection === 'locked')
  const [wasRefused, setRefused] = useState(false)
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (!isLocked) return dialog.current?.close()
    setRefused(controlToken() !== null)
    dialog.current?.showModal()
  }, [isLocked])
  return (
    <dialog ref={dialog} aria-label="Control token" onCancel={(event) => event.preventDefault()}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const token = new FormData(event.currentTarget).get('token')
          event.currentTarget.reset()
          if (typeof token === 'string') session.enterToken(token)
        }}
      >
        <label class="stacked">
          This sandbox requires a control token.
          <input name="token" type="password" required autocomplete="off" aria-label="Control token" />
        </label>
        {wasRefused ? (
          <p class="error" role="alert">
            The sandbox rejected this token.
          </p>
        ) : (
          <p class="muted">It is the value of --control-token. It is kept in this tab only.</p>
        )}
        <div class="row end">
          <button type="submit" class="primary">
            Unlock
          </button>
        </div>
      </form>
    </dialog>
  )
}
