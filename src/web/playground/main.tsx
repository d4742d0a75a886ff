import { render } from 'preact'
import { Playground } from './playground.js'
import { SandboxView } from './sandbox-view.js'
import { ShopClient } from './shop-client.js'
import { SiteWorker } from './site-worker.js'
import '../dashboard/style/colours.css'
import '../dashboard/style/controls.css'
import './style.css'

const root = document.querySelector('#playground')
if (root !== null) {
  const worker = new SiteWorker()
  const view = new SandboxView()
  const client = new ShopClient('v1')
  render(<Playground worker={worker} view={view} client={client} />, root)
  void worker.start().then((isRunning) => {
    if (!isRunning) return
    void view.follow()
    void client.refresh()
  })
}
