import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ConductSection } from './conduct-section.js'
import { DriftSection } from './drift-section.js'
import { FaultsSection } from './faults-section.js'
import { KeysSection } from './keys-section.js'
import { OrdersSection } from './orders-section.js'
import type { Tab } from './page-address.js'
import { PetsSection } from './pets-section.js'
import { ReplicasSection } from './replicas-section.js'
import { ScenariosSection } from './scenarios-section.js'
import { useDashboard, useSession } from './session-context.js'
import { SettingsSections } from './settings-section.js'
import { SnapshotsSection } from './snapshots-section.js'
import { SpacesSection } from './spaces-section.js'
import { StormSection } from './storm-section.js'

/** Below this the log and a panel do not stand side by side. */
const NARROW = '(max-width: 900px)'

const PANELS: readonly { readonly tab: Tab; readonly title: string; readonly content: () => VNode }[] = [
  {
    tab: 'break',
    title: 'Break it',
    content: () => (
      <>
        <ScenariosSection />
        <StormSection />
        <FaultsSection />
        <SettingsSections />
      </>
    ),
  },
  { tab: 'keys', title: 'Keys', content: () => <KeysSection /> },
  {
    tab: 'data',
    title: 'Data',
    content: () => (
      <>
        <PetsSection />
        <OrdersSection />
        <SnapshotsSection />
        <SpacesSection />
        <ReplicasSection />
      </>
    ),
  },
  {
    tab: 'conduct',
    title: 'Conduct',
    content: () => (
      <>
        <DriftSection />
        <ConductSection />
      </>
    ),
  },
]

/** The log, and beside it one panel; on narrow pages one of all of them, chosen at the bottom. */
export function Panels({ log }: { readonly log: ComponentChildren }) {
  const session = useSession()
  const tab = useDashboard(({ tab }) => tab)
  const violations = useDashboard(({ conduct }) => conduct?.violations.length ?? 0)
  const drifts = useDashboard(({ drift }) => drift?.findings.length ?? 0)
  const isNarrow = useMedia(NARROW)
  const tabs = useRef<HTMLDivElement>(null)
  const shown = PANELS.find((panel) => panel.tab === tab) ?? (isNarrow ? undefined : PANELS[0])
  const names = [...(isNarrow ? [{ tab: 'log' as const, title: 'Log' }] : []), ...PANELS]
  const current = shown?.tab ?? 'log'

  function walk(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = names.findIndex((name) => name.tab === current)
    const next = names[(at + step + names.length) % names.length]
    if (next === undefined) return
    session.showTab(next.tab)
    requestAnimationFrame(() => tabs.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus())
  }

  return (
    <main data-tab={current} class={isNarrow ? 'narrow' : 'broad'}>
      {isNarrow && shown !== undefined ? null : log}
      <div class="aside">
        <div class="tabs" role="tablist" aria-label="Panels" ref={tabs} onKeyDown={walk}>
          {names.map(({ tab, title }) => (
            <button
              type="button"
              role="tab"
              key={tab}
              id={`tab-${tab}`}
              aria-selected={tab === current}
              aria-controls={tab === current && tab !== 'log' ? 'panel' : undefined}
              tabIndex={tab === current ? 0 : -1}
              onClick={() => session.showTab(tab)}
            >
              {title}
              {tab === 'conduct' ? (
                <>
                  <Badge count={violations} what="violations" />
                  <Badge count={drifts} what="drifts" />
                </>
              ) : null}
            </button>
          ))}
        </div>
        {shown === undefined ? null : (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, so the keyboard must reach it
          <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${shown.tab}`} tabIndex={0}>
            {shown.content()}
          </div>
        )}
      </div>
    </main>
  )
}

function Badge({ count, what }: { readonly count: number; readonly what: string }) {
  return count === 0 ? null : (
    <span class="badge" title={what}>
      {count}
      <span class="hidden"> {what}</span>
    </span>
  )
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const look = () => setMatches(media.matches)
    media.addEventListener('change', look)
    return () => media.removeEventListener('change', look)
  }, [query])
  return matches
}
