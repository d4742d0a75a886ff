import { effect } from '@preact/signals'
import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { enterToken, goTo, start } from '../session.js'
import * as view from '../state.js'
import { TokenDialog } from '../ui.js'
import { HelpDialog, ReplayDialog } from './dialogs.js'
import { Header, Notices, OverrideBar, Toast } from './header.js'
import { readPlace, writePlace } from './page-address.js'
import { Panels } from './panels.js'
import './style/colours.css'
import './style/controls.css'
import './style/page.css'
import './style/traffic.css'
import './style/things.css'
import './style/narrow.css'

function Dashboard() {
  useEffect(start, [])
  return (
    <>
      <Header />
      <OverrideBar />
      <Notices />
      <Panels />
      <Toast />
      <ReplayDialog />
      <HelpDialog />
      {view.connection.value === 'locked' ? <TokenDialog enter={enterToken} /> : null}
    </>
  )
}

const root = document.querySelector('#dashboard')
if (root !== null) {
  goTo(readPlace(location.hash))
  effect(() => {
    const exchange = view.selected.value?.id ?? view.wanted.value
    const place = { space: view.space.value, filter: view.filter.value, exchange, tab: view.tab.value }
    history.replaceState(null, '', location.pathname + location.search + writePlace(place))
  })
  addEventListener('hashchange', () => goTo(readPlace(location.hash)))
  render(<Dashboard />, root)
}
