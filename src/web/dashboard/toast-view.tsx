import { useDashboard, useSession } from './session-context.js'

/** What was done, and the way back, for some seconds. */
export function ToastView() {
  const session = useSession()
  const toast = useDashboard(({ toast }) => toast)
  return (
    <div class="toasts" role="status">
      {toast === undefined ? null : (
        <p class="toast">
          {toast.text}{' '}
          <button type="button" onClick={() => session.undo()}>
            Undo
          </button>
        </p>
      )}
    </div>
  )
}
