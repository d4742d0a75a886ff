import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { ServerOptions } from '../server.js'
import type { Experiment } from '../trial.js'
import { ask, statusOf, Wire } from '../wire.js'

/** Root may write everywhere, so under root the sandbox runs as nobody. */
const NOBODY = 65534
/** More than a journal that is folded at the earliest. */
const PADDING = 30_000

/** A folder that may not be written: before the first start, at a later one, and from under a running sandbox. */
export const readOnlyFolder: Experiment = {
  counts: 'starts and writes',
  async run(trial) {
    const as: ServerOptions = process.getuid?.() === 0 ? { uid: NOBODY } : {}
    const folder = trial.folder()
    const store = join(folder, '.petstore-sandbox')
    mkdirSync(store)
    if (as.uid !== undefined) for (const path of [folder, store]) chownSync(path, as.uid, as.uid)
    const refuses = async (when: string) => {
      const server = trial.begin(folder, UNLIMITED, as)
      const isReady = await server.ready.then(
        () => true,
        () => false,
      )
      if (isReady) return trial.lose(`${when}: it started on a folder that it may not write`)
      const { code, signal } = await server.end()
      const isClear = code === 1 && server.lines.length === 1 && server.said.includes('STORE_UNWRITABLE')
      trial.check(isClear, () => `${when}: ${code ?? signal}: ${server.said}`)
    }

    chmodSync(store, 0o555)
    await refuses('a first start')
    chmodSync(store, 0o755)

    const ledger = new Ledger()
    let server = await trial.serve(folder, UNLIMITED, as)
    await ledger.begin(server)
    chmodSync(store, 0o555)
    // The journal is open already, so writes go on; only folding cannot.
    const wire = await Wire.open(server.port)
    const writes = trial.size(120, 45)
    for (let i = 0; i < writes; i++) {
      const outcome = await ledger.writeOne(wire, PADDING)
      trial.check(outcome !== 'over', () => 'a write got no response')
    }
    wire.close()
    const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
    trial.check(status === 200, () => `listPets answers ${status}`)
    await ledger.audit(trial, server)
    const { code } = await server.stop()
    trial.check(code === 0 && server.said.includes('Nothing is lost'), () => `it stops with ${code}: ${server.said}`)
    await refuses('a later start')

    chmodSync(store, 0o755)
    server = await trial.serve(folder, UNLIMITED, as)
    await ledger.audit(trial, server)
    trial.note(`${ledger.acknowledged.size} writes acknowledged while folding was impossible`)
  },
}
