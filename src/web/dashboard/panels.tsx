import { signal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ConductPanel, occurrences } from './conduct-panel.js'
import { DataPanel } from './data-panel.js'
import { ExchangePanel } from './exchange-detail.js'
import { ExchangeList } from './exchange-list.js'
import { KeysPanel } from './keys-panel.js'
import { ClientLanes } from './lanes.js'
import { Sentence } from './sentence.js'
import { showTab } from './session.js'
import { conduct, selected, tab } from './state.js'
import { SwitchesPanel } from './switches-panel.js'
import { FilterBar, ListSummary } from './traffic.js'

const NARROW = matchMedia('(max-width: 900px)')
const isNarrow = signal(NARROW.matches)
NARROW.addEventListener('change', () => {
  isNarrow.value = NARROW.matches
})

const LOG = { name: 'log', title: 'Log' } as const
const PANELS = [
  { name: 'exchange', title: 'Exchange', Content: ExchangePanel },
  { name: 'switches', title: 'Switches', Content: SwitchesPanel },
  { name: 'keys', title: 'Keys', Content: KeysPanel },
  { name: 'data', title: 'Data', Content: DataPanel },
  { name: 'conduct', title: 'Conduct', Content: ConductPanel },
] as const
const SWITCHES = PANELS[1]

/** The log beside a panel; on narrow pages, only one of them. */
export function Panels() {
  const tabs = useRef<HTMLDivElement>(null)
  const open = PANELS.filter(({ name }) => name !== 'exchange' || selected.value !== undefined)
  const shown = open.find(({ name }) => name === tab.value) ?? (isNarrow.value ? undefined : SWITCHES)
  const all = isNarrow.value ? [LOG, ...open] : open
  const current = shown?.name ?? 'log'
  const violations = occurrences(conduct.value?.violations ?? [])

  function walk(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const index = all.findIndex(({ name }) => name === current)
    const next = all[(index + step + all.length) % all.length]
    if (next === undefined) return
    showTab(next.name)
    requestAnimationFrame(() => tabs.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus())
  }

  return (
    <main data-tab={current} class={isNarrow.value ? 'narrow' : 'broad'}>
      {isNarrow.value && shown !== undefined ? null : (
        <div class="happens">
          <ClientLanes />
          <Sentence />
          <FilterBar />
          <ExchangeList />
          <ListSummary />
        </div>
      )}
      <div class="aside">
        <div class="tabs" role="tablist" aria-label="Panels" ref={tabs} onKeyDown={walk}>
          {all.map(({ name, title }) => (
            <button
              type="button"
              role="tab"
              key={name}
              id={`tab-${name}`}
              aria-selected={name === current}
              aria-controls={name === current && name !== 'log' ? 'panel' : undefined}
              tabIndex={name === current ? 0 : -1}
              onClick={() => showTab(name)}
            >
              <span class={name === 'exchange' ? 'hidden' : ''}>{title}</span>
              {name === 'exchange' ? `#${selected.value?.id}` : null}
              {name === 'conduct' && violations > 0 ? (
                <span class="outcome failed">
                  {violations.toLocaleString('en')} <span class="hidden">violations</span>
                </span>
              ) : null}
            </button>
          ))}
        </div>
        {shown === undefined ? null : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it
          <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${shown.name}`} tabIndex={0}>
            <shown.Content />
          </div>
        )}
      </div>
    </main>
  )
}
