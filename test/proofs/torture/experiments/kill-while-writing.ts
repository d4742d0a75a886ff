import { Client } from '../client.js'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment } from '../trial.js'

const WRITERS = 8

/** SIGKILL at a random moment while eight clients add pets. Every acknowledged pet is there afterwards. */
export const killWhileWriting: Experiment = {
  counts: 'stores and pets checked after a kill',
  async run(trial) {
    const folder = trial.folder()
    const kills = trial.size(12, 2)
    let server = await trial.serve(folder, UNLIMITED)
    const ledger = await Ledger.begin(trial, server)
    for (let kill = 0; kill < kills; kill++) {
      const enough = ledger.size + trial.integer(20, 1200)
      let added = ledger.size
      const writers = Array.from({ length: WRITERS }, async () => {
        const client = new Client(server.port)
        // The writers go on: the kill meets them in the middle of their writes.
        while (typeof (await ledger.write(client)) !== 'string') if (++added >= enough) server.child.kill('SIGKILL')
        client.close()
      })
      await Promise.all(writers)
      await server.kill()
      server = await trial.serve(folder, kill % 2 === 0 ? [...UNLIMITED, '--fsync'] : UNLIMITED)
      await ledger.audit(trial, server)
    }
    await server.stop()
    await ledger.audit(trial, await trial.serve(folder, UNLIMITED))
    trial.note(`${kills} kills, ${WRITERS} writers, ${ledger.size} acknowledged pets`)
  },
}
