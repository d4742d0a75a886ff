import { Ledger, UNLIMITED } from '../ledger.js'
import type { Ordeal } from '../trial.js'

const WRITERS = 8

/** SIGKILL at a random moment while eight clients add pets; what was acknowledged is there afterwards. */
export const killWhileWriting: Ordeal = {
  counts: 'acknowledged pets',
  async run(trial) {
    const folder = trial.folder()
    const ledger = new Ledger()
    const kills = trial.size(12, 2)
    let victim = await trial.serve(folder, UNLIMITED)
    await ledger.begin(victim)
    for (let kill = 0; kill < kills; kill++) {
      const from = ledger.acknowledged.size
      const enough = trial.integer(20, 1200)
      const writers = Array.from({ length: WRITERS }, () =>
        ledger.write(victim, () => {
          // The writers go on: the kill meets them in the middle of their writes.
          if (ledger.acknowledged.size - from >= enough) victim.child.kill('SIGKILL')
          return false
        }),
      )
      await Promise.all(writers)
      await victim.kill()
      victim = await trial.serve(folder, UNLIMITED)
      await ledger.audit(trial, victim)
    }
    await victim.stop()
    victim = await trial.serve(folder, UNLIMITED)
    trial.survive(await ledger.audit(trial, victim))
    trial.note(`${kills} kills, ${WRITERS} writers`)
  },
}
