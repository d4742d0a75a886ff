import { counted } from '../../domain/numbers.js'
import { unknownTerm } from '../../exchanges/exchange-filter.js'
import { callVerb } from '../control-api.js'
import { call, newerThanShown, pause } from '../session.js'
import { exchanges, filter, isPaused, missed, pageTime, shownExchanges, space } from '../state.js'
import { ActionButton, saveFile } from './fields.js'

const EXPORTS = [
  ['Export as HAR', 'HAR', 'exchanges.har', 'requests.har'],
  ['Export as JSON', 'JSON', 'exchanges.json', 'requests.list'],
] as const

export function FilterBar() {
  return (
    <search class="row bar">
      <input
        id="filter"
        class="grow"
        type="search"
        value={filter.value}
        placeholder="status:429  key:sandbox  >500ms      / to focus"
        aria-label="Filter"
        aria-describedby="filter-hint"
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          filter.value = currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.preventDefault()
          filter.value = ''
          event.currentTarget.blur()
        }}
      />
      <span class="hidden" id="filter-hint">
        Words that must all match, such as status:429, 4xx, op:listPets, path:/pets, body:Rex; a minus negates one.
      </span>
      <button type="button" aria-pressed={isPaused.value} onClick={() => pause(!isPaused.value)}>
        {isPaused.value ? 'Continue' : 'Pause'}
      </button>
      {EXPORTS.map(([label, text, file, verb]) => (
        <ActionButton key={file} label={label} act={async () => saveFile(file, await callVerb(verb, space.value))}>
          {text}
        </ActionButton>
      ))}
      <ActionButton label="Clear the log" act={() => call('requests.clear', {}, 'The log is empty.')}>
        Clear
      </ActionButton>
    </search>
  )
}

export function ListSummary() {
  const [all, shown] = [exchanges.value.length, shownExchanges.value.length]
  const unknown = unknownTerm(filter.value)
  const newer = isPaused.value ? pageTime.value && newerThanShown() : 0
  return (
    <p class="count muted" role="status">
      {unknown === undefined ? null : (
        <span class="unknown">
          “{unknown.word}” is searched as text.{' '}
          {unknown.meant === undefined ? null : (
            <button type="button" class="plain" onClick={() => replaceWord(unknown.word, unknown.meant ?? '')}>
              Use {unknown.meant}
            </button>
          )}
        </span>
      )}
      {isPaused.value ? `Paused, ${newer} newer. ` : ''}
      {missed.value === 0 ? '' : `${counted(missed.value, 'exchange')} came too fast to be shown. `}
      {shown === all ? '' : `${shown} of `}
      {counted(all, 'exchange')}
    </p>
  )
}

function replaceWord(word: string, meant: string): void {
  filter.value = filter.value.replace(word, () => meant)
}
