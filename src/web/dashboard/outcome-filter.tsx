import { filterExchanges } from './exchange-filter.js'
import { OUTCOME_LABELS, OUTCOMES, outcomeOf } from './outcome.js'
import { useDashboard, useSession } from './session-context.js'

/** Narrows the list to one outcome; each says how many it would show. */
export function OutcomeFilter() {
  const session = useSession()
  useDashboard(({ revision }) => revision)
  const filter = useDashboard(({ filter }) => filter)
  const found = filterExchanges(session.exchanges.newestFirst(), { ...filter, outcome: undefined })
  const counts = { answered: 0, refused: 0, limited: 0, failed: 0, cut: 0 }
  for (const exchange of found) if (exchange.ended !== null) counts[outcomeOf(exchange)]++
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="legend" role="group" aria-label="Show only">
      {OUTCOMES.map((outcome) => {
        const isChosen = filter.outcome === outcome
        return (
          <button
            type="button"
            key={outcome}
            class={`chip ${outcome}`}
            aria-pressed={isChosen}
            onClick={() => session.filter({ ...filter, outcome: isChosen ? undefined : outcome })}
          >
            <span class="swatch" aria-hidden="true" />
            {OUTCOME_LABELS[outcome]} <b>{counts[outcome]}</b>
          </button>
        )
      })}
    </div>
  )
}
