import { useDashboard, useSession } from './session-context.js'

/** What the page has to say by itself: a lost sandbox, a removed space; and, unseen, what a switch has done. */
export function Notices() {
  const session = useSession()
  const connection = useDashboard(({ connection }) => connection)
  const notice = useDashboard(({ notice }) => notice)
  const announcement = useDashboard(({ announcement }) => announcement)
  return (
    <>
      <div role="status">
        {connection === 'lost' ? (
          <p class="notice">The sandbox does not answer. What is shown is what it was last; trying again …</p>
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
