import { counted } from '../../domain/numbers.js'
import { callVerb } from '../control-api.js'
import { NO_OUTCOMES, OUTCOME_LABELS, OUTCOMES, outcomeOf } from '../format.js'
import { call, filterBy } from '../session.js'
import { exchanges, filter, missed, selected, shownExchanges, space } from '../state.js'
import { ActionButton, saveFile } from '../ui.js'
import { ExchangeDetail } from './exchange-detail.js'
import { facetsOf, filterExchanges } from './exchange-filter.js'
import { ExchangeList } from './exchange-list.js'

export function Traffic() {
  return (
    <section class="card traffic" id="traffic" aria-label="Exchanges">
      <div class="row between">
        <div class="field grow">
          <label for="filter">Filter</label>
          <input
            id="filter"
            type="search"
            value={filter.value.text}
            placeholder="status:429 -key:sandbox-pro >500ms"
            aria-describedby="filter-hint"
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => {
              filter.value = { ...filter.value, text: currentTarget.value }
            }}
            onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
          />
          <span class="hidden" id="filter-hint">
            Words that must all match, such as status:429, 4xx, op:listPets, path:/pets, body:Rex; a minus turns one
            round.
          </span>
        </div>
        <div class="row">
          <ActionButton
            label="Export as HAR"
            act={async () => saveFile('exchanges.har', await callVerb('requests.har', space.value))}
          >
            HAR
          </ActionButton>
          <ActionButton
            label="Export as JSON"
            act={async () => saveFile('exchanges.json', await callVerb('requests.list', space.value))}
          >
            JSON
          </ActionButton>
          <ActionButton label="Clear the log" act={() => call('requests.clear', {}, 'The log is empty.')}>
            Clear
          </ActionButton>
        </div>
      </div>
      <OutcomeFilter />
      <Facets />
      {missed.value === 0 ? null : (
        <p class="muted" role="status">
          {counted(missed.value, 'exchange')} came too fast to be shown.
        </p>
      )}
      <div class={selected.value === undefined ? 'panes' : 'panes open'}>
        <ExchangeList />
        {selected.value === undefined ? null : <ExchangeDetail exchange={selected.value} />}
      </div>
    </section>
  )
}

/** Each button shows the number of matching exchanges. */
function OutcomeFilter() {
  const { text, outcome: chosen } = filter.value
  const counts = { ...NO_OUTCOMES }
  for (const exchange of filterExchanges(exchanges.value, { text, outcome: undefined }))
    if (exchange.ended !== null) counts[outcomeOf(exchange)]++
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="legend" role="group" aria-label="Show only">
      {OUTCOMES.map((outcome) => (
        <button
          type="button"
          key={outcome}
          class={`chip ${outcome}`}
          aria-pressed={chosen === outcome}
          onClick={() => {
            filter.value = { text, outcome: chosen === outcome ? undefined : outcome }
          }}
        >
          <span class="swatch" aria-hidden="true" />
          {OUTCOME_LABELS[outcome]} <b>{counts[outcome]}</b>
        </button>
      ))}
    </div>
  )
}

function Facets() {
  const facets = facetsOf(shownExchanges.value)
  return facets.length === 0 ? null : (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="facets" role="group" aria-label="Narrow to">
      {facets.map(({ word, value, count }) => (
        <button type="button" key={word} class="plain" title={word} onClick={() => filterBy(word)}>
          <span class="value">{value}</span> <b>{count}</b>
        </button>
      ))}
    </div>
  )
}
