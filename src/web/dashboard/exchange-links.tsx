import { useSession } from './session-context.js'

/** Exchanges named by a button that shows them; beyond these their number is enough. */
const MOST_NAMED = 5

/** Leads from a finding to the exchanges in which it was seen. */
export function ExchangeLinks({ ids }: { readonly ids: readonly number[] }) {
  const session = useSession()
  const named = ids.slice(0, MOST_NAMED).join(', ')
  return (
    <p>
      <button
        type="button"
        class="plain"
        onClick={() => {
          session.filter({ text: `id:${ids.join(',')}`, outcome: undefined })
          session.select(session.exchanges.get(ids.at(-1) ?? 0))
          session.showTab('log')
        }}
      >
        {ids.length === 1 ? `exchange ${named}` : `exchanges ${named}${ids.length > MOST_NAMED ? ' …' : ''}`}
      </button>
    </p>
  )
}
