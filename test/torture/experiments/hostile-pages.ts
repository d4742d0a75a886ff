import { VERBS } from '../../../src/control/verbs.js'
import { UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, statusOf } from '../wire.js'

/** What a browser says of a page that is not the sandbox's, whatever the page would like. */
const ORIGINS = ['https://evil.example', 'http://127.0.0.1:3000', 'http://localhost', 'null', 'file://']
const SITES = ['cross-site', 'same-site']
const MODES = ['no-cors', 'cors', 'navigate', 'websocket', 'same-origin']
const DESTINATIONS = ['image', 'script', 'empty', 'iframe', 'style', 'object', 'font']
const HOSTS = ['evil.example', 'localhost.evil.example', '127.0.0.1.nip.io', '[::2]:4010', '10.0.0.1']

/** Pages of other sites against the control plane, and readers of spaces that are not there: nothing changes, nothing opens. */
export const hostilePages: Experiment = {
  counts: 'requests of pages that are none of the sandbox’s',
  async run(trial) {
    const { port } = await trial.serve(trial.folder(), ['--in-memory', '--seed', '1', ...UNLIMITED])
    const picture = async () => {
      const answers = await Promise.all(
        ['settings', 'storm', 'faults', 'spaces', 'snapshots', 'pets?limit=3'].map((path) =>
          ask(port, 'GET', `/__sandbox/${path}`),
        ),
      )
      return answers.map((heard) => (typeof heard === 'string' ? heard : heard.body)).join('\n')
    }
    const before = await picture()
    const verbs = Object.values(VERBS)
    for (let request = 0; request < trial.size(5000, 300); request++) {
      const { method, path } = trial.oneOf(verbs)
      const target = `/__sandbox${path.replaceAll(/\{\w+\}/g, '1')}?space=${trial.integer(0, 3000)}`
      const metadata = `Sec-Fetch-Site: ${trial.oneOf(SITES)}\r\nSec-Fetch-Mode: ${trial.oneOf(MODES)}\r\nSec-Fetch-Dest: ${trial.oneOf(DESTINATIONS)}\r\n`
      // A plain GET of a page has no Origin; everything else has one. A name bound anew has its own Host.
      const headers = trial.oneOf([
        `Origin: ${trial.oneOf(ORIGINS)}\r\n${metadata}`,
        `Origin: ${trial.oneOf(ORIGINS)}\r\n`,
        metadata,
      ])
      const body = method === 'GET' ? {} : { body: '{"rate":1,"plan":"pro","name":"storm"}' }
      const status = statusOf(await ask(port, method, target, { ...body, headers }))
      trial.check(status === 403, () => `${method} ${target} of ${headers.trim()}: ${status}, not 403`)
    }
    for (const host of HOSTS) {
      const status = statusOf(await ask(port, 'GET', '/__sandbox/state', { host }))
      trial.check(status === 403, () => `GET of the Host ${host}: ${status}, not 403`)
    }
    for (let space = 0; space < trial.size(1001, 100); space++) {
      const status = statusOf(await ask(port, 'GET', `/__sandbox/state?space=${space}`))
      trial.check(status === 404, () => `GET of the state of the space ${space}: ${status}, not 404`)
    }
    const after = await picture()
    trial.check(after === before, () => `it is another sandbox now: ${after}, it was ${before}`)
  },
}
