import { useDashboard, useSession } from './session-context.js'

/** Notices of the page: a lost sandbox, a removed space; and, for screen readers, the effect of the last control. */
export function Notices() {
  const session = useSession()
  const connection = useDashboard(({ connection }) => connection)
  const notice = useDashboard(({ notice }) => notice)
  const announcement = useDashboard(({ announcement }) => announcement)
  return (
    <>
      <div role="status">
        {connection === 'lost' ? (
          <p class="notice">The sandbox is not responding. This is its last known state; reconnecting …</p>
        ) : null}
        {notice === '' ? null : (
          <p class="notice">
            {notice}{' '}
            <button type="button" onClick={() => session.dismissNotice()}>
              Dismiss
            </button>
          </p>
        )}
      </div>
      <p class="hidden" role="status">
        {announcement}
      </p>
    </>
  )
}
