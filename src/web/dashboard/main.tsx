import { effect } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { TokenDialog } from '../ui.js'
import { ActiveNow } from './active-now.js'
import { HelpDialog, ReplayDialog } from './dialogs.js'
import { Header, LostBanner, Messages } from './header.js'
import { readPlace, writePlace } from './page-address.js'
import { Palette } from './palette.js'
import { Panels } from './panels.js'
import { enterToken, goTo, start } from './session.js'
import * as view from './state.js'
import './base.css'
import './style.css'

const PLACES = [
  ['clients', '.lanes button'],
  ['log', '#log [tabindex="0"]'],
] as const

function Dashboard() {
  useEffect(start, [])
  return (
    <>
      {PLACES.map(([name, place]) => (
        <button
          type="button"
          key={name}
          class="hidden newer"
          onClick={() => (document.querySelector<HTMLElement>(place) ?? document.getElementById('filter'))?.focus()}
        >
          Skip to the {name}
        </button>
      ))}
      <LostBanner />
      <Header />
      <ActiveNow />
      <Panels />
      <Messages />
      <ReplayDialog />
      <HelpDialog />
      <Palette />
      {view.connection.value === 'locked' ? <TokenDialog enter={enterToken} /> : null}
    </>
  )
}

goTo(readPlace(location.hash))
effect(() => {
  const exchange = view.selected.value?.id ?? view.wanted.value
  const place = { space: view.space.value, filter: view.filter.value, exchange, tab: view.tab.value }
  history.replaceState(null, '', location.pathname + location.search + writePlace(place))
})
addEventListener('hashchange', () => goTo(readPlace(location.hash)))
render(<Dashboard />, document.body)
