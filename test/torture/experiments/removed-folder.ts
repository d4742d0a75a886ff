import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'
import { ask, statusOf, Wire } from '../wire.js'

/** The store's folder is removed, or moved away, under clients that write: no 201 from then on, and an end that says so. */
export const removedFolder: Experiment = {
  counts: 'writes to a store that is taken away',
  async run(trial) {
    for (let round = 0; round < trial.size(10, 2); round++) {
      const folder = trial.folder()
      const ledger = new Ledger()
      const server = await trial.serve(folder, UNLIMITED)
      await ledger.begin(server)
      const wires = await Promise.all(Array.from({ length: 8 }, () => Wire.open(server.port)))
      let left = trial.integer(20, 200)
      await Promise.all(
        wires.map(async (wire) => {
          while (left-- > 0) if ((await ledger.writeOne(wire)) === 'kept') trial.survive()
        }),
      )
      const home = join(folder, '.petstore-sandbox')
      const isMoved = round % 2 === 1
      // In the middle of what eight clients write at once: what was told after it was told by nothing.
      let isGone = false
      const writing = wires.map(async (wire) => {
        for (let refused = 0; refused < 3; ) {
          const wasGone = isGone
          const outcome = await ledger.writeOne(wire)
          trial.check(outcome !== 'kept' || !wasGone, () => 'a write sent after the store was gone was told to be kept')
          if (outcome === 'refused') refused++
          if (outcome === 'over') return trial.lose('a write was left without an answer')
        }
      })
      await new Promise((resolve) => setTimeout(resolve, trial.integer(5, 40)))
      if (isMoved) renameSync(home, `${home}-moved`)
      else rmSync(home, { recursive: true })
      isGone = true
      await Promise.all(writing)
      // Whoever reads sees every pet that was told to be kept, and none that was refused.
      await ledger.audit(trial, server)
      for (const wire of wires) {
        const outcome = await ledger.writeOne(wire)
        trial.check(outcome === 'refused', () => `a write to a store that is gone was ${outcome}`)
        wire.close()
      }
      const read = statusOf(await ask(server.port, 'GET', '/v1/pets'))
      trial.check(read === 200, () => `listPets answers ${read} when the store is gone`)
      const { code, signal } = await server.stop()
      const isTold = server.lines.at(-1)?.startsWith('STORE_LOST: ') === true
      trial.check(code === 1 && isTold, () => `it ended with ${code ?? signal}: ${server.said}`)
      if (!isMoved) continue
      renameSync(`${home}-moved`, home)
      await ledger.audit(trial, await trial.serve(folder, UNLIMITED))
    }
  },
}
