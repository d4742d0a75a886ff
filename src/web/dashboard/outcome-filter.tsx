import { OUTCOME_LABELS, OUTCOMES } from './outcome.js'
import { useDashboard, useSession } from './session-context.js'
import type { OutcomeCounts } from './traffic-tally.js'

/** The chart's legend with its numbers; each entry narrows the list to it. */
export function OutcomeFilter({ total }: { readonly total: OutcomeCounts }) {
  const session = useSession()
  const filter = useDashboard(({ filter }) => filter)
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
            {OUTCOME_LABELS[outcome]} <b>{total[outcome]}</b>
          </button>
        )
      })}
    </div>
  )
}
