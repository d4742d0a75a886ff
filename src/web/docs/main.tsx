import { render } from 'preact'
import { DocsPage } from './docs-page.js'
import '../dashboard/style/colours.css'
import '../dashboard/style/controls.css'
import './style.css'

const root = document.querySelector('#docs')
// The space that the page is about is in its address, as in the control plane's: `docs?space=name`.
if (root !== null) render(<DocsPage space={new URLSearchParams(location.search).get('space') ?? ''} />, root)
