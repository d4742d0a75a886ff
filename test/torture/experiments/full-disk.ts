import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger, UNLIMITED } from '../ledger.js'
import type { Experiment, Trial } from '../trial.js'
import { ask, statusOf, Wire } from '../wire.js'

const DISK = '4m'
const PADDING = 3000
/** At once, so that a turn has several changes when the disk is full in the middle of it. */
const WRITERS = 8
const FAILURES = 5

/** A disk that fills up while eight clients add pets, is full at a start, and has room again. Takes root, to mount one. */
export const fullDisk: Experiment = {
  counts: 'writes onto a disk that fills up',
  async run(trial) {
    const folder = mountDisk(trial)
    if (folder === undefined) return trial.note('left out: mounting a disk takes root')
    const rounds = trial.size(4, 1)
    const ledger = new Ledger()
    let server = await trial.serve(folder, UNLIMITED)
    await ledger.begin(server)
    let refused = 0
    for (let round = 0; round < rounds; round++) {
      const ballast = fill(folder, trial.integer(100, 400))
      const writing = Array.from({ length: WRITERS }, async () => {
        const wire = await Wire.open(server.port)
        for (let failures = 0; failures < FAILURES; ) {
          const outcome = await ledger.writeOne(wire, PADDING)
          if (outcome === 'refused') failures++
          if (outcome === 'over') {
            trial.lose('a write got no response')
            break
          }
          trial.survive()
        }
        wire.close()
      })
      await Promise.all(writing)
      refused += WRITERS * FAILURES
      const read = statusOf(await ask(server.port, 'GET', '/v1/pets'))
      trial.check(read === 200, () => `listPets returns ${read} on a full disk`)
      await ledger.audit(trial, server)
      if (round % 2 === 0) await server.kill()
      else await server.stop()
      await startsOrRefuses(trial, folder)
      rmSync(ballast)
      server = await trial.serve(folder, UNLIMITED)
      await ledger.audit(trial, server)
      const again = await Wire.open(server.port)
      const outcome = await ledger.writeOne(again, PADDING)
      trial.check(outcome === 'kept', () => `there is room again, but a write is ${outcome}`)
      again.close()
    }
    await server.kill()
    await ledger.audit(trial, await trial.serve(folder, UNLIMITED))
    trial.note(`${refused} refused with 500, ${ledger.acknowledged.size} acknowledged`)
    await newStore(trial)
  },
}

function mountDisk(trial: Trial): string | undefined {
  const folder = join(trial.folder(), 'disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK},mode=755`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  trial.afterwards(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

/** Fills the disk except `leftKiB`. @returns the file that takes the space */
function fill(folder: string, leftKiB: number): string {
  const { bavail, bsize } = statfsSync(folder)
  const ballast = join(folder, 'ballast')
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - leftKiB * 1024)))
  return ballast
}

/** On a full disk a start serves the store, or is refused in one clear line. */
async function startsOrRefuses(trial: Trial, folder: string): Promise<void> {
  const server = trial.begin(folder, UNLIMITED)
  const isReady = await server.ready.then(
    () => true,
    () => false,
  )
  if (isReady) return void (await server.kill())
  const { code, signal } = await server.end()
  trial.check(
    code === 1 && server.lines.length === 1,
    () => `a start on a full disk: ${code ?? signal}: ${server.said}`,
  )
}

/** Without room a new store is refused, and the next start works. */
async function newStore(trial: Trial): Promise<void> {
  const folder = mountDisk(trial)
  if (folder === undefined) return
  const ballast = fill(folder, 0)
  await startsOrRefuses(trial, folder)
  rmSync(ballast)
  const server = await trial.serve(folder, UNLIMITED)
  const status = statusOf(await ask(server.port, 'GET', '/v1/pets'))
  trial.check(status === 200, () => `after a refused first start listPets returns ${status}`)
}
