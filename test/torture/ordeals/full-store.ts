import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Ordeal } from '../trial.js'
import { ask, statusOf, Wire } from '../wire.js'

const LIMIT_KIB = 512
const PADDING = 3000
const WRITERS = 4

/**
 * Clients that fill a store to its `--max-store`, from one connection and from
 * several at once, over a kill and a stop: never more on disk than that, 507
 * beyond, and everything that was acknowledged is there.
 */
export const fullStore: Ordeal = {
  counts: 'writes to a store up to its limit',
  async run(trial) {
    const folder = trial.folder()
    const flags = [...UNLIMITED, '--max-store', `${LIMIT_KIB}KiB`]
    const ledger = new Ledger()
    let victim = await trial.serve(folder, flags)
    await ledger.begin(victim)
    const store = join(folder, '.petstore-sandbox/store.json')
    const bytes = () => statSync(store).size + (statSync(`${store}.journal`, { throwIfNoEntry: false })?.size ?? 0)
    let most = 0
    for (let round = 0; round < trial.size(6, 2); round++) {
      const fill = async () => {
        const wire = await Wire.open(victim.port)
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
      const read = statusOf(await ask(victim.port, 'GET', '/v1/pets'))
      trial.check(read === 200, () => `listPets answers ${read} while the store is full`)
      const told = victim.lines.filter((line) => line.includes('is full (--max-store')).length
      trial.check(told === 1, () => `it was told ${told} times that the store is full`)
      await ledger.audit(trial, victim)
      const [newest] = [...ledger.acknowledged.keys()].slice(-1)
      const removed = statusOf(await ask(victim.port, 'DELETE', `/__sandbox/pets/${newest}`))
      trial.check(removed === 200, () => `a removal from a full store answers ${removed}`)
      ledger.acknowledged.delete(String(newest))
      if (round % 2 === 0) await victim.kill()
      else await victim.stop()
      victim = await trial.serve(folder, flags)
      await ledger.audit(trial, victim)
    }
    // A turn's writes are counted before their checksums are.
    const isBound = most <= (LIMIT_KIB + 1) * 1024
    trial.check(isBound, () => `document and journal came to ${most} bytes`)
    trial.note(`${ledger.acknowledged.size} kept, ${Math.round(most / 1024)} KiB on disk at most`)
  },
}
