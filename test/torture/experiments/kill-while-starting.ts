import { setTimeout as passes } from 'node:timers/promises'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'

/** SIGKILL at a random moment of the start, on a new store and on one with a journal to take in. */
export const killWhileStarting: Experiment = {
  counts: 'starts killed',
  async run(trial) {
    const rounds = trial.size(8, 2)
    // Kills between two full starts.
    const killsInARow = trial.size(4, 2)
    let startMs = 0
    for (let round = 0; round < rounds; round++) {
      const folder = trial.folder()
      const ledger = new Ledger()
      const startedAt = performance.now()
      const first = await trial.serve(folder, UNLIMITED)
      startMs = Math.max(startMs, performance.now() - startedAt)
      await ledger.begin(first)
      const isNew = round % 2 === 0
      if (!isNew) {
        let left = 300
        await ledger.write(first, () => left-- === 0, 5000)
      }
      await first.kill()
      const place = isNew ? trial.folder() : folder
      for (let kill = 0; kill < killsInARow; kill++) {
        const server = trial.begin(place, UNLIMITED)
        await passes(trial.integer(0, Math.ceil(startMs * 1.2)))
        await server.kill()
      }
      const lostBefore = trial.lost
      await ledger.audit(trial, await trial.serve(place, UNLIMITED))
      if (trial.lost === lostBefore) trial.survive(killsInARow)
    }
    trial.note(`within the first ${Math.ceil(startMs * 1.2)} ms`)
  },
}
