import { useId } from 'preact/hooks'
import { ActionButton } from './controls.js'
import { ExchangeDetail } from './exchange-detail.js'
import { ExchangeList } from './exchange-list.js'
import { useDashboard, useSession } from './session-context.js'

/** The live list of exchanges, its filter, and the one that is open. */
export function Traffic() {
  const session = useSession()
  const filter = useDashboard(({ filter }) => filter)
  const selected = useDashboard(({ selected }) => selected)
  const missed = useDashboard(({ missed }) => missed)
  const id = useId()
  return (
    <section class="card traffic" id="traffic" aria-label="Exchanges">
      <div class="row between">
        <div class="field grow">
          <label for={id}>Filter</label>
          <input
            id={id}
            type="search"
            value={filter.text}
            placeholder="path, status, key, reason, operation"
            onInput={({ currentTarget }) => session.filter({ ...filter, text: currentTarget.value })}
          />
        </div>
        <ActionButton label="Clear the log" act={() => session.call('requests.clear', {}, 'The log is empty.')}>
          Clear
        </ActionButton>
      </div>
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
