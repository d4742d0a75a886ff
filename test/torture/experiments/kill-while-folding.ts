import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as passes } from 'node:timers/promises'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Server } from '../server.js'
import type { Experiment, Trial } from '../trial.js'

const WRITERS = 4
/** So that a fold comes after some fifty pets. */
const PADDING = 20_000

/** Each fold takes a journal as large as the document, so a new store begins after a few. */
const FOLDS_A_STORE = 4

/** SIGKILL while the journal is folded into the document: under load, at the stop, and at the start. */
export const killWhileFolding: Experiment = {
  counts: 'acknowledged pets',
  async run(trial) {
    const kills = trial.size(15, 3)
    const inside = { count: 0 }
    for (let kill = 0; kill < kills; ) {
      const folder = trial.folder()
      const ledger = new Ledger()
      let server = await trial.serve(folder, UNLIMITED)
      await ledger.begin(server)
      for (let fold = 0; fold < FOLDS_A_STORE && kill < kills; fold++, kill++) {
        await WAYS[kill % WAYS.length]?.(trial, folder, ledger, server, inside)
        server = await trial.serve(folder, UNLIMITED)
        await ledger.audit(trial, server)
      }
      await server.stop()
      trial.survive(await ledger.audit(trial, await trial.serve(folder, UNLIMITED)))
    }
    trial.note(`${kills} kills, ${inside.count} of them left a fold half done`)
  },
}

type Way = (trial: Trial, folder: string, ledger: Ledger, server: Server, inside: { count: number }) => Promise<void>

const underLoad: Way = async (trial, folder, ledger, server, inside) => {
  const writers = Array.from({ length: WRITERS }, () => ledger.write(server, () => false, PADDING))
  await fold(folder, server)
  await strike(trial, folder, server, inside, 12)
  await Promise.all(writers)
}

const atTheStop: Way = async (trial, folder, ledger, server, inside) => {
  let left = trial.integer(5, 40)
  await ledger.write(server, () => left-- === 0, PADDING)
  const stopped = server.stop()
  await fold(folder, server)
  await strike(trial, folder, server, inside, 8)
  await stopped
}

const atTheStart: Way = async (trial, folder, ledger, server, inside) => {
  let left = trial.integer(5, 40)
  await ledger.write(server, () => left-- === 0, PADDING)
  await server.kill()
  const next = trial.begin(folder, UNLIMITED)
  await fold(folder, next)
  await strike(trial, folder, next, inside, 8)
}

const WAYS: readonly Way[] = [underLoad, atTheStop, atTheStart]

/** Resolves as soon as a document is being written beside the present one, or the process has ended. */
async function fold(folder: string, server: Server): Promise<void> {
  const store = join(folder, '.petstore-sandbox')
  const signs = ['.store.json.next.tmp', 'store.json.next'].map((name) => join(store, name))
  let isOver = false
  void server.ended.then(() => {
    isOver = true
  })
  while (!isOver && !signs.some((sign) => existsSync(sign))) await nextTurn()
}

async function strike(
  trial: Trial,
  folder: string,
  server: Server,
  inside: { count: number },
  withinMs: number,
): Promise<void> {
  await passes(trial.integer(0, withinMs))
  await server.kill()
  if (readdirSync(join(folder, '.petstore-sandbox')).some((name) => /\.next(\.tmp)?$/.test(name))) inside.count++
}
