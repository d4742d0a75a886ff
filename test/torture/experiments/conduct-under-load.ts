import { type ChildProcess, spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { connectSandbox } from '../../../src/index.js'
import { type Crew, observe, POLITE_CREWS, RUDE_CREWS } from '../../clients/crews.js'
import type { Experiment } from '../trial.js'

const SHIFT_MS = 2500
const SIDE_BY_SIDE = 2

/** Crews of clients, each with its own key, beside a busy loop on every processor. Polite crews are never blamed, rude ones always found. */
export const conductUnderLoad: Experiment = {
  counts: 'crews judged',
  async run(trial) {
    const runs = trial.size(50, 2)
    const server = await trial.serve(trial.folder(), ['--in-memory', '--seed', '1'])
    const sandbox = await connectSandbox(`http://127.0.0.1:${server.port}/__sandbox`)
    const spinners = Array.from({ length: availableParallelism() }, spin)
    trial.afterwards(() => {
      for (const spinner of spinners) spinner.kill('SIGKILL')
    })
    const chance = () => trial.chance.next()
    const blamed = new Set<number>()
    const unfound = new Map<string, number>(RUDE_CREWS.map(({ name }) => [name, 0]))
    const seen = { requests: 0, refused: 0, likely: 0 }

    async function judge(crew: Crew, run: number, index: number): Promise<void> {
      const name = `run-${run}-${index}`
      const shift = { baseUrl: `http://127.0.0.1:${server.port}/v1`, chance, duration: SHIFT_MS }
      const { violations, warnings, requests, refused } = await observe(crew, sandbox.space(name), shift)
      await sandbox.spaces.remove(name)
      if (crew.breaks === undefined) {
        seen.requests += requests
        seen.refused += refused
        seen.likely += warnings.get('early-retry-likely') ?? 0
        if (violations.length > 0) blamed.add(run)
        trial.check(violations.length === 0, () => `${crew.name} is blamed: ${violations.join(' ')}`)
      } else {
        const isFound = violations.some((text) => text.startsWith(`${crew.breaks} `))
        if (!isFound) unfound.set(crew.name, (unfound.get(crew.name) ?? 0) + 1)
        trial.check(isFound, () => `${crew.name} is not found: ${requests} requests, ${violations.join(' ')}`)
      }
    }

    const crews = [...POLITE_CREWS, ...RUDE_CREWS]
    for (let run = 0; run < runs; run += SIDE_BY_SIDE) {
      const shifts = Array.from({ length: SIDE_BY_SIDE * crews.length }, (_, index) => index)
      await Promise.all(
        shifts.map((index) =>
          judge(crews[index % crews.length] as Crew, run + Math.floor(index / crews.length), index),
        ),
      )
    }
    trial.note(`violations of polite crews: in ${blamed.size} of ${runs} runs`)
    for (const [name, count] of unfound) trial.note(`${name}: found in ${runs - count} of ${runs}`)
    trial.note(`polite: ${seen.requests} requests, ${seen.refused} refused, ${seen.likely} early-retry-likely`)
  },
}

/** Takes all of a processor. */
function spin(): ChildProcess {
  return spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
}
