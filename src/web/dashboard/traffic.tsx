import { useId } from 'preact/hooks'
import { callVerb } from './api.js'
import { ActionButton } from './controls.js'
import { ExchangeDetail } from './exchange-detail.js'
import { facetsOf, filterExchanges } from './exchange-filter.js'
import { ExchangeList } from './exchange-list.js'
import { OutcomeFilter } from './outcome-filter.js'
import { saveFile } from './save-file.js'
import { useDashboard, useSession } from './session-context.js'

/** The live list of exchanges, its filter, and the one that is open. */
export function Traffic() {
  const session = useSession()
  const filter = useDashboard(({ filter }) => filter)
  const selected = useDashboard(({ selected }) => selected)
  const missed = useDashboard(({ missed }) => missed)
  const space = useDashboard(({ space }) => space)
  const hint = useId()
  return (
    <section class="card traffic" id="traffic" aria-label="Exchanges">
      <div class="row between">
        <div class="field grow">
          <label for="filter">Filter</label>
          <input
            id="filter"
            type="search"
            value={filter.text}
            placeholder="status:429 -key:sandbox-pro >500ms"
            aria-describedby={hint}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => session.filter({ ...filter, text: currentTarget.value })}
            onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
          />
          <span class="hidden" id={hint}>
            Words that must all match, such as status:429, 4xx, op:listPets, path:/pets, body:Rex; a minus turns one
            round.
          </span>
        </div>
        <div class="row">
          <ActionButton
            label="Export as HAR"
            act={async () => saveFile('exchanges.har', await callVerb('requests.har', space))}
          >
            HAR
          </ActionButton>
          <ActionButton
            label="Export as JSON"
            act={async () => saveFile('exchanges.json', await callVerb('requests.list', space))}
          >
            JSON
          </ActionButton>
          <ActionButton label="Clear the log" act={() => session.call('requests.clear', {}, 'The log is empty.')}>
            Clear
          </ActionButton>
        </div>
      </div>
      <OutcomeFilter />
      <Facets />
      {missed === 0 ? null : (
        <p class="muted" role="status">
          {missed} exchanges came too fast to be shown.
        </p>
      )}
      <div class={selected === undefined ? 'panes' : 'panes open'}>
        <ExchangeList />
        {selected === undefined ? null : <ExchangeDetail exchange={selected} />}
      </div>
    </section>
  )
}

/** What the list could be narrowed to, by a click. */
function Facets() {
  const session = useSession()
  useDashboard(({ revision }) => revision)
  const filter = useDashboard(({ filter }) => filter)
  const facets = facetsOf(filterExchanges(session.exchanges.newestFirst(), filter))
  if (facets.length === 0) return null
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as a flex row everywhere
    <div class="facets" role="group" aria-label="Narrow to">
      {facets.map(({ word, value, count }) => (
        <button type="button" key={word} class="plain" title={word} onClick={() => session.toggleWord(word)}>
          <span class="value">{value}</span> <b>{count}</b>
        </button>
      ))}
    </div>
  )
}
