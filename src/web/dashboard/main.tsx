import { render } from 'preact'
import { Dashboard } from './dashboard.js'
import { readPlace } from './page-address.js'
import { Session } from './session.js'
import './style/colours.css'
import './style/controls.css'
import './style/page.css'
import './style/traffic.css'
import './style/things.css'
import './style/narrow.css'

const root = document.querySelector('#dashboard')
if (root !== null) {
  const session = new Session(readPlace(location.hash))
  render(<Dashboard session={session} />, root)
  session.start()
  addEventListener('hashchange', () => session.goTo(readPlace(location.hash)))
}
