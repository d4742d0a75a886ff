import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { counted } from '../../domain/numbers.js'
import { unknownTerm, wordsOf } from '../../exchanges/exchange-filter.js'
import { callVerb } from '../control-api.js'
import { Field, Menu } from '../ui.js'
import { clearLog } from './actions.js'
import { ActionButton, saveFile } from './fields.js'
import { filterBy, loadOlder, setFilter } from './session.js'
import * as view from './state.js'
import { countText } from './texts.js'

const { chips, draft, exchanges, filter, hasOlder, isFolded } = view

const EXPORTS = [
  ['as HAR', 'exchanges.har', 'requests.har'],
  ['as JSON', 'exchanges.json', 'requests.list'],
] as const

export function FilterBar() {
  return (
    <search>
      <div class="row bar">
        <div class="row grow">
          {chips.value.map((word) => (
            <span key={word} class="tag mono" title={word}>
              <span class="word">{word}</span>
              <button type="button" class="plain" aria-label={`Remove ${word}`} onClick={() => filterBy(word)}>
                ×
              </button>
            </span>
          ))}
          <Field
            id="filter"
            class="grow"
            type="search"
            value={draft.value}
            placeholder={chips.value.length === 0 ? 'Filter: status:429  client:curl  >500ms  text' : 'Add a filter'}
            aria-label="Filter"
            aria-describedby="filter-hint"
            choose={(text) => (draft.value = text)}
            onKeyDown={typeFilter}
          />
        </div>
        <span class="hidden" id="filter-hint">
          Words that must all match, such as status:429, 4xx, op:&lt;operation&gt;, path:/, body:&lt;text&gt;; a minus
          negates one. Enter keeps them.
        </span>
        <button type="button" aria-pressed={isFolded.value} onClick={() => (isFolded.value = !isFolded.value)}>
          Group repeats
        </button>
        <Menu label="Export">
          {EXPORTS.map(([text, file, verb]) => (
            <ActionButton key={file} act={async () => saveFile(file, await callVerb(verb, view.space.value))}>
              The log {text}
            </ActionButton>
          ))}
          <ActionButton act={clearLog}>Clear the log</ActionButton>
        </Menu>
      </div>
      <FilterProblem />
    </search>
  )
}

function typeFilter(event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }): void {
  if (event.key === 'Enter') setFilter(filter.value)
  else if (event.key === 'Backspace' && draft.value === '') setFilter(chips.value.slice(0, -1).join(' '))
  else if (event.key === 'Escape') {
    setFilter('')
    event.currentTarget.blur()
  } else return
  event.preventDefault()
}

function FilterProblem() {
  const unknown = unknownTerm(filter.value)
  const words = wordsOf(filter.value).map((word) => (word === unknown?.word ? (unknown.meant ?? word) : word))
  return unknown === undefined ? null : (
    <p class="bar error" role="status">
      “{unknown.word}” is no field of the filter, and is searched as text.{' '}
      {unknown.meant === undefined ? null : (
        <button type="button" class="plain" onClick={() => setFilter(words.join(' '))}>
          Use {unknown.meant}
        </button>
      )}
    </p>
  )
}

const SPEAK_MS = 2000

export function ListSummary() {
  const shown = view.shownExchanges.value.length
  const kept = countText(exchanges.value.length, 'exchange')
  const part = view.filteredPart.value.filter === filter.value ? view.filteredPart.value.part : ''
  const text = filter.value === '' ? kept : `${shown.toLocaleString('en')} of ${kept}${part === '' ? '' : `, ${part}`}`
  const spoken = useSignal('')
  // Traffic would have it spoken many times a second.
  useEffect(() => {
    const timer = setTimeout(() => {
      spoken.value = filter.value === '' ? '' : text
    }, SPEAK_MS)
    return () => clearTimeout(timer)
  }, [filter.value])
  return (
    <p class="bar muted">
      {view.missed.value === 0 ? '' : `${counted(view.missed.value, 'exchange')} came too fast to be shown. `}
      {view.isLoaded.value ? text : ''}
      {view.isPart.value ? ' · ' : ''}
      {hasOlder.value ? (
        <ActionButton class="plain" act={loadOlder}>
          load older
        </ActionButton>
      ) : view.isPart.value ? (
        'older ones are gone (--log-limit)'
      ) : null}
      <span class="hidden" role="status">
        {spoken}
      </span>
    </p>
  )
}
