import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'

const WRITERS = 8

/** SIGKILL at a random moment while eight clients add pets. Every acknowledged pet is there afterwards. */
export const killWhileWriting: Experiment = {
  counts: 'acknowledged pets',
  async run(trial) {
    const folder = trial.folder()
    const ledger = new Ledger()
    const kills = trial.size(12, 2)
    let server = await trial.serve(folder, UNLIMITED)
    await ledger.begin(server)
    for (let kill = 0; kill < kills; kill++) {
      const from = ledger.acknowledged.size
      const enough = trial.integer(20, 1200)
      const writers = Array.from({ length: WRITERS }, () =>
        ledger.write(server, () => {
          // The writers go on: the kill meets them in the middle of their writes.
          if (ledger.acknowledged.size - from >= enough) server.child.kill('SIGKILL')
          return false
        }),
      )
      await Promise.all(writers)
      await server.kill()
      server = await trial.serve(folder, kill % 2 === 0 ? [...UNLIMITED, '--fsync'] : UNLIMITED)
      await ledger.audit(trial, server)
    }
    await server.stop()
    server = await trial.serve(folder, UNLIMITED)
    trial.survive(await ledger.audit(trial, server))
    trial.note(`${kills} kills, ${WRITERS} writers`)
  },
}
