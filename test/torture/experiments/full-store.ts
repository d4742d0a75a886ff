import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, statusOf, Wire } from '../wire.js'

const LIMIT_KIB = 512
const PADDING = 3000
const WRITERS = 4

/**
 * Clients that fill a store to its `--max-store`, from one connection and from
 * several at once, over a kill and a stop: never more on disk than that, 507
 * beyond, and everything that was acknowledged is there.
 */
export const fullStore: Experiment = {
  counts: 'writes to a store up to its limit',
  async run(trial) {
    const folder = trial.folder()
    const flags = [...UNLIMITED, '--max-store', `${LIMIT_KIB}KiB`]
    const ledger = new Ledger()
    let server = await trial.serve(folder, flags)
    await ledger.begin(server)
    const store = join(folder, '.petstore-sandbox/store.json')
    const bytes = () => statSync(store).size + (statSync(`${store}.journal`, { throwIfNoEntry: false })?.size ?? 0)
    let most = 0
    for (let round = 0; round < trial.size(6, 2); round++) {
      const fill = async () => {
        const wire = await Wire.open(server.port)
        for (let refused = 0; refused < 20; ) {
          const outcome = await ledger.writeOne(wire, trial.integer(0, PADDING))
          if (outcome === 'refused') refused++
          if (outcome === 'over') return trial.lose('a write was left without an answer')
          most = Math.max(most, bytes())
          trial.survive()
        }
        wire.close()
      }
      await Promise.all(Array.from({ length: WRITERS }, fill))
      const read = statusOf(await ask(server.port, 'GET', '/v1/pets'))
      trial.check(read === 200, () => `listPets answers ${read} while the store is full`)
      const told = server.lines.filter((line) => line.includes('is full (--max-store')).length
      trial.check(told === 1, () => `it was told ${told} times that the store is full`)
      await ledger.audit(trial, server)
      const [newest] = [...ledger.acknowledged.keys()].slice(-1)
      const removed = statusOf(await ask(server.port, 'DELETE', `/__sandbox/pets/${newest}`))
      trial.check(removed === 200, () => `a removal from a full store answers ${removed}`)
      ledger.acknowledged.delete(String(newest))
      if (round % 2 === 0) await server.kill()
      else await server.stop()
      server = await trial.serve(folder, flags)
      await ledger.audit(trial, server)
    }
    // A turn's writes are counted before their checksums are.
    const isBound = most <= (LIMIT_KIB + 1) * 1024
    trial.check(isBound, () => `document and journal came to ${most} bytes`)
    trial.note(`${ledger.acknowledged.size} kept, ${Math.round(most / 1024)} KiB on disk at most`)
  },
}
